import type { Environment } from '../../gen/index.ts';
import { Badge } from '../../ui/badge.tsx';

/** Badges for the state of an environment and for the default environment. */
export function EnvironmentState({ environment }: { environment: Environment }) {
  return (
    <span className="inline-flex flex-wrap gap-1.5">
      {environment.enabled ? <Badge tone="good">Enabled</Badge> : <Badge>Disabled</Badge>}
      {environment.is_default && <Badge tone="accent">Default</Badge>}
    </span>
  );
}
