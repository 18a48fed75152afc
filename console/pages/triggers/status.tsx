import type { Deployment } from '../../gen/index.ts';
import { Badge } from '../../ui/badge.tsx';

export function TriggerStatus({ status }: { status: Deployment['status'] }) {
  return status === 'enabled' ? <Badge tone="good">Enabled</Badge> : <Badge tone="warn">Disabled</Badge>;
}

/** An agent that is deleted has no name any more. */
export const agentNameOf = ({ agent_name: name }: Pick<Deployment, 'agent_name'>) =>
  name ?? 'Agent that is gone';

/** There is one type, signed in one way. */
export const TYPE_NAME = 'Webhook (HMAC-signed)';
