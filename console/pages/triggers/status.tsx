import type { Deployment } from '../../gen/index.ts';
import { Badge } from '../../ui/badge.tsx';

export function TriggerStatus({ status }: { status: Deployment['status'] }) {
  return status === 'enabled' ? <Badge tone="good">Enabled</Badge> : <Badge tone="warn">Disabled</Badge>;
}

/** An agent that is deleted has no name any more. */
export const agentNameOf = ({ agent_name: name }: Pick<Deployment, 'agent_name'>) =>
  name ?? 'Agent that is gone';

const TAIL = 6;

/** What one trigger of an agent is told by from the others, in as little room as there is. */
export const titleOf = ({ deployment_id: id, agent_name: name }: Deployment) =>
  `Trigger ${id.slice(-TAIL)} of ${name ?? 'an agent that is gone'}`;

/** There is one type, signed in one way. */
export const TYPE_NAME = 'Webhook (HMAC-signed)';
