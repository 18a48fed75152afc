import type { SessionState } from '../../api/session-state.ts';
import type { Session } from '../../gen/index.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { stateLabel } from './state.ts';

const LOOKS: Record<SessionState, { tone: Tone; live?: boolean }> = {
  needs_input: { tone: 'warn' },
  needs_approval: { tone: 'warn' },
  running: { tone: 'accent', live: true },
  retrying: { tone: 'warn', live: true },
  queued: { tone: 'accent', live: true },
  completed: { tone: 'good' },
  failed: { tone: 'bad' },
  stopped: { tone: 'plain' },
  limit_reached: { tone: 'warn' },
};

/** State of a session. */
export function SessionStateBadge({
  session: { state, archived_at: archivedAt },
}: {
  session: Pick<Session, 'state' | 'archived_at'>;
}) {
  return (
    <span className="inline-flex flex-wrap gap-1.5">
      <Badge {...(state && LOOKS[state])}>{stateLabel(state)}</Badge>
      {archivedAt && <Badge>Archived</Badge>}
    </span>
  );
}
