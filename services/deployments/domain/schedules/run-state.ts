/** The trigger of a run is one of `scheduled`, `manual`, `backfill` and `replay`. */
export type RunTrigger = 'scheduled' | 'manual' | 'backfill' | 'replay';

export type RunStatus =
  | 'queued'
  | 'running'
  | 'waiting'
  | 'succeeded'
  | 'failed'
  | 'interrupted'
  | 'cancelled'
  | 'skipped'
  | 'missed';

const UNFINISHED: ReadonlySet<RunStatus> = new Set(['queued', 'running', 'waiting']);

/** Whether a run never changes again. */
export function isFinal(status: RunStatus): boolean {
  return !UNFINISHED.has(status);
}

/** The members of a turn that decide on its run, as the contract of sessions has them. */
interface TurnState {
  /** queued | in_progress | blocked | completed | failed | interrupted | cancelled */
  status: string;
  /** JSON object with a type; empty while the turn goes on. */
  stopReasonJson: string;
}

interface RunOutcome {
  status: RunStatus;
  /** The type of the stop reason when the turn did not end normally; null otherwise. */
  reason: string | null;
}

/** The state of a started run whose turn is in this state. */
export function runStateOf({ status, stopReasonJson }: TurnState): RunOutcome {
  switch (status) {
    case 'completed': {
      const type = stopTypeOf(stopReasonJson);
      return type === 'end_turn' ? { status: 'succeeded', reason: null } : { status: 'failed', reason: type };
    }
    case 'failed':
      return { status: 'failed', reason: stopTypeOf(stopReasonJson) ?? 'failed' };
    case 'interrupted':
      return { status: 'interrupted', reason: null };
    // The turn was removed from the queue of its session before it started.
    case 'cancelled':
      return { status: 'cancelled', reason: 'turn_cancelled' };
    case 'blocked':
      return { status: 'waiting', reason: null };
    default:
      return { status: 'running', reason: null };
  }
}

function stopTypeOf(json: string): string | null {
  if (json === '') return null;
  const { type } = JSON.parse(json) as { type?: unknown };
  return typeof type === 'string' ? type : null;
}
