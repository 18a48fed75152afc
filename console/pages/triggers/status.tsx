import type { Deployment } from '../../gen/index.ts';
import { Badge } from '../../ui/badge.tsx';

export function TriggerStatus({ status }: { status: Deployment['status'] }) {
  return status === 'enabled' ? <Badge tone="good">Enabled</Badge> : <Badge tone="warn">Disabled</Badge>;
}

/** The name of a deleted agent is not available. */
export const agentNameOf = ({ agent_name: name }: Pick<Deployment, 'agent_name'>) => name ?? 'Deleted agent';

const ID_SUFFIX_CHARS = 6;

/** Short title that distinguishes the triggers of an agent. */
export const triggerTitle = ({ deployment_id: id, agent_name: name }: Deployment) =>
  `Trigger ${id.slice(-ID_SUFFIX_CHARS)} of ${name ?? 'a deleted agent'}`;

/** The only trigger type. */
export const TYPE_NAME = 'Webhook (HMAC-signed)';
