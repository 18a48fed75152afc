import type { Actor, EventData, EventType } from '../../../lib/events.ts';
import type { ApprovalKind, SessionState, TurnState, Usage } from './state.ts';

/** An event before it has a place in the journal. */
export interface Draft {
  type: EventType;
  /** A JSON object as text. */
  dataJson: string;
  actor: Actor;
  turnId?: string | undefined;
  traceparent?: string | undefined;
  /** Where the id must be known before; otherwise it gets a new one. */
  eventId?: string;
  /** RFC 3339, of something that happened earlier; otherwise it happens now. */
  createdAt?: string;
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
  /** Questions that are asked, and those that are settled. */
  requested?: NewApproval[];
  settled?: SettledApproval[];
}

export interface NewApproval {
  approvalId: string;
  turnId: string;
  kind: ApprovalKind;
  toolUseId: string;
  toolName: string;
  /** JSON text. */
  inputJson: string;
  inputSha256: string;
  expiresAt: Date;
}

export interface SettledApproval {
  approvalId: string;
  status: 'decided' | 'expired' | 'cancelled';
  decision?: string;
  reason?: string;
  /** JSON text; absent when the input stays as it was. */
  editedInputJson?: string;
  /** Of the edited input. */
  editedSha256?: string;
  /** usr_… */
  decidedBy?: string;
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
