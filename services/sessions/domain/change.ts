import type { Actor, EventData, EventType } from '../../../lib/events.ts';
import type { SessionState, TurnState, Usage } from './state.ts';

/** An event before it has a place in the journal. */
export interface Draft {
  type: EventType;
  /** A JSON object as text. */
  dataJson: string;
  actor: Actor;
  turnId?: string | undefined;
  traceparent?: string | undefined;
}

export interface NewTurn {
  turnId: string;
  /** Which of the drafts queues it; its seq becomes the turn's position. */
  draft: number;
  priority: number;
  ready: boolean;
  traceparent: string | undefined;
}

/**
 * What a decision makes of a session: the events it appends, and every row that changes with them in
 * the same transaction. There is no change without an event.
 */
export interface Change {
  drafts: Draft[];
  head: Pick<SessionState, 'status' | 'stopReason' | 'queuedTurns' | 'fence'> & {
    currentTurnId: string | null;
    usage: Usage;
  };
  newTurn?: NewTurn;
  /** Turns that change, each at most once. */
  turns: TurnState[];
  /** Position of the queued turn that a runner may take from now on. */
  promote?: number;
}

export function draft<T extends EventType>(
  type: T,
  data: EventData<T>,
  actor: Actor,
  more: { turnId?: string | undefined; traceparent?: string | undefined } = {},
): Draft {
  return { type, dataJson: JSON.stringify(data), actor, ...more };
}

/** A change that leaves the session as it is, to be filled in. */
export function unchanged(state: SessionState): Change {
  return {
    drafts: [],
    head: {
      status: state.status,
      stopReason: state.stopReason,
      queuedTurns: state.queuedTurns,
      fence: state.fence,
      currentTurnId: state.current?.turnId ?? null,
      usage: state.usage,
    },
    turns: [],
  };
}

/**
 * The state that a change leaves behind, when it queues no turn and takes none from the queue. `lastSeq` is that
 * of its last event.
 */
export function after(state: SessionState, { head, turns }: Change, lastSeq: number): SessionState {
  const { currentTurnId, ...rest } = head;
  const current = turns.find((turn) => turn.turnId === currentTurnId) ?? state.current;
  return { ...state, ...rest, lastSeq, current: current?.turnId === currentTurnId ? current : null };
}
