import { type Refusal, refuse, refuseField } from '../../../lib/errors.ts';
import { isId } from '../../../lib/ids.ts';

export type Status = 'enabled' | 'disabled';

const TYPES = ['webhook', 'schedule', 'channel'] as const;
export type DeploymentType = (typeof TYPES)[number];

export interface Deployment {
  deploymentId: string;
  /** usr_…: the owner of the sessions that it starts. */
  createdBy: string;
  agentId: string;
  type: DeploymentType;
  status: Status;
  /** Only of webhooks. Never empty. */
  promptPrefix: string | undefined;
  /** Empty for webhooks, as the metadata. */
  name: string;
  metadata: Readonly<Record<string, string>>;
  /** Incremented by each change of a client. 0 for webhooks. */
  revision: number;
  createdAt: Date;
  updatedAt: Date;
}

/** Identifies a deployment. With an agent id, it matches only a deployment of that agent; empty: of any agent. */
export interface DeploymentAddress {
  agentId: string;
  deploymentId: string;
}

export function checkDeploymentType(type: string): DeploymentType {
  const known = TYPES.find((one) => one === type);
  if (!known) throw refuseField('/type', `must be one of ${TYPES.join(', ')}`);
  return known;
}

const FIRST_PAGE = { limit: 50, cursor: '' };

/** Default: the first page. */
export function checkedPage(page: { limit: number; cursor: string } | undefined) {
  if (page && (page.limit < 1 || page.limit > 100)) throw refuseField('/limit', 'must be from 1 to 100');
  return page ?? FIRST_PAGE;
}

/** Whether the ids are well-formed. Malformed ids are not looked up. */
export function isValidAddress({ agentId, deploymentId }: DeploymentAddress): boolean {
  return isId('dep', deploymentId) && (agentId === '' || isId('agt', agentId));
}

/** The sender of a webhook gets the same refusal for unknown, deleted and disabled deployments. */
export function deploymentNotFound(): Refusal {
  return refuse('DEPLOYMENT_NOT_FOUND', 'Unknown deployment.');
}
