import type { Exchange } from '../../route.ts';

export const OF_AGENT = '/admin/agents/{agent_id}/deployments';
export const ONE = `${OF_AGENT}/{deployment_id}`;

/** The ids in the path of a deployment. */
export const deploymentRef = ({ param }: Pick<Exchange, 'param'>) => ({
  agentId: param('agent_id'),
  deploymentId: param('deployment_id'),
});

/** The errors of every route of a channel. */
export const OF_CHANNEL = ['DEPLOYMENT_NOT_FOUND', 'NOT_A_CHANNEL'] as const;
