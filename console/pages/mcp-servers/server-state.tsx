import type { McpServer } from '../../gen/index.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';

const TONES: Record<McpServer['catalogue']['state'], Tone> = {
  unreviewed: 'accent',
  current: 'good',
  changed: 'warn',
  unreachable: 'bad',
  unauthorized: 'bad',
};

export function ServerState({ server: { enabled, catalogue } }: { server: McpServer }) {
  return (
    <span className="inline-flex flex-wrap gap-1.5">
      <Badge tone={TONES[catalogue.state]}>{catalogue.state}</Badge>
      {!enabled && <Badge>disabled</Badge>}
    </span>
  );
}
