import type { Environment } from '../../gen/index.ts';
import { Badge } from '../../ui/badge.tsx';

/** Whether sessions begin in it, and whether it is the one of agents that name none. */
export function EnvironmentState({ environment }: { environment: Environment }) {
  return (
    <span className="inline-flex flex-wrap gap-1.5">
      {environment.enabled ? <Badge tone="good">Enabled</Badge> : <Badge>Disabled</Badge>}
      {environment.is_default && <Badge tone="accent">Default</Badge>}
    </span>
  );
}
