import type { Deployment, Webhook } from '../../gen/index.ts';
import { Badge } from '../../ui/badge.tsx';

export function DeploymentStatus({ status }: { status: Deployment['status'] }) {
  return status === 'enabled' ? <Badge tone="good">Enabled</Badge> : <Badge tone="warn">Disabled</Badge>;
}

/** The name of a deleted agent is not available. */
export const agentNameOf = ({ agent_name: name }: Pick<Deployment, 'agent_name'>) => name ?? 'Deleted agent';

const ID_SUFFIX_CHARS = 6;

/** Short title that distinguishes the webhooks of an agent, which have no names. */
export const webhookTitle = ({ deployment_id: id, agent_name: name }: Webhook) =>
  `Webhook ${id.slice(-ID_SUFFIX_CHARS)} of ${name ?? 'a deleted agent'}`;

/** The title of a deployment in lists and dialogs. */
export const deploymentTitle = (deployment: Deployment) =>
  deployment.type === 'webhook' ? agentNameOf(deployment) : deployment.name;

export const TYPE_NAMES: Record<Deployment['type'], string> = {
  webhook: 'Webhook',
  schedule: 'Schedule',
  channel: 'Channel',
};
