import type { Session } from '../../gen/index.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';

const STATES: Record<Session['status'], { tone: Tone; text: string; live?: boolean }> = {
  idle: { tone: 'plain', text: 'Idle' },
  pending: { tone: 'accent', text: 'Pending', live: true },
  running: { tone: 'accent', text: 'Running', live: true },
  rescheduling: { tone: 'warn', text: 'Retrying', live: true },
  terminated: { tone: 'bad', text: 'Terminated' },
};

const ENDS: Record<string, { tone: Tone; text: string }> = {
  end_turn: { tone: 'good', text: 'Done' },
  requires_action: { tone: 'warn', text: 'Needs you' },
  interrupted: { tone: 'plain', text: 'Interrupted' },
  retries_exhausted: { tone: 'bad', text: 'Failed' },
  budget_reached: { tone: 'warn', text: 'Budget reached' },
  max_steps_reached: { tone: 'warn', text: 'Step limit reached' },
  refused: { tone: 'bad', text: 'Refused' },
};

/** Where a session stands; of one that is idle, why. What waits behind a decision waits for whoever decides. */
export function SessionStatus({
  session,
}: {
  session: Pick<Session, 'status' | 'stop_reason' | 'needs_action' | 'archived_at'>;
}) {
  const reason = session.stop_reason?.type;
  const hasStopped = session.status === 'idle' || (session.status === 'pending' && session.needs_action);
  const end = hasStopped && typeof reason === 'string' ? ENDS[reason] : undefined;
  const state = end ?? STATES[session.status];
  return (
    <span className="inline-flex flex-wrap gap-1.5">
      <Badge {...state}>{state.text}</Badge>
      {session.archived_at && <Badge>Archived</Badge>}
    </span>
  );
}
