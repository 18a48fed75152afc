import type { Actor } from '../../../lib/event-parts.ts';
import type { ApprovalKind, ClientCallKind, EventType } from '../../../lib/event-types.ts';
import type { EventData } from '../../../lib/events.ts';
import type { SessionState, TurnState, Usage } from './state.ts';

/** An event that has no seq yet. */
export interface EventDraft {
  type: EventType;
  /** A JSON object as text. */
  dataJson: string;
  actor: Actor;
  turnId?: string | undefined;
  traceparent?: string | undefined;
  /** Set when the id is known before the event is written. Otherwise the event gets a new id. */
  eventId?: string;
  /** RFC 3339. Set when the event happened earlier. Otherwise it happens now. */
  createdAt?: string;
}

export interface NewTurn {
  turnId: string;
  /** Index of the draft whose seq becomes the position of the turn. */
  draftIndex: number;
  priority: number;
  ready: boolean;
  traceparent: string | undefined;
  /** The turn whose answer the new one replaces. */
  replacesTurnId?: string;
  /** JSON text of the overrides in force. Undefined for none. */
  overridesJson: string | undefined;
  /** Undefined for a turn that answers a message. */
  kind?: 'compaction';
  /** The turn that the message of the new turn steers. */
  steersTurnId?: string | undefined;
  /** The bytes that the pinned message of the new turn counts for. Undefined for a message that is not pinned. */
  pinnedBytes?: number | undefined;
}

/**
 * The result of a decision about a session: the events to append, and the rows that change with them in the same
 * transaction. Every change of the head has an event.
 */
export interface Change {
  drafts: EventDraft[];
  head: Pick<SessionState, 'status' | 'stopReason' | 'queuedTurns' | 'queueHeld' | 'fence'> & {
    currentTurnId: string | null;
    usage: Usage;
    toolsOfferedSha256: string | null;
    contextJson: string | null;
  };
  newTurn?: NewTurn;
  /** From this change on, changes of the session write signals. */
  beginsSignals?: boolean;
  /** The new states of turns. Each turn occurs at most once. */
  turns: TurnState[];
  /** Position of the queued turn that becomes ready. */
  promote?: number;
  /** Approvals that are requested, and approvals that are decided, expired or cancelled. */
  newApprovals?: NewApproval[];
  closedApprovals?: ClosedApproval[];
  /** Calls that the turn begins to wait for, and calls that are answered, expired or cancelled. */
  newClientCalls?: NewClientCall[];
  closedClientCalls?: ClosedClientCall[];
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
  /** JSON text of the details that are shown. Absent for the kinds without details. */
  detailsJson?: string | undefined;
  /** mcp_… Only of kind `authorization`. */
  mcpServerId?: string | undefined;
  /** The sealed state of the tool. Only of kind `input`. */
  sealedState?: Uint8Array | undefined;
}

export interface ClosedApproval {
  approvalId: string;
  status: 'decided' | 'expired' | 'cancelled';
  decision?: string;
  reason?: string;
  /** JSON text. Absent when the input was not edited. */
  editedInputJson?: string;
  /** The digest of the edited input. */
  editedSha256?: string;
  /** JSON text of the content of an accepted form. */
  contentJson?: string;
  /** usr_… */
  decidedBy?: string;
  /** The account in a messaging product with which that user has decided. */
  via?: string;
}

export interface NewClientCall {
  /** The `agent.tool_use` event, which identifies the call. */
  eventId: string;
  turnId: string;
  kind: ClientCallKind;
  toolUseId: string;
  name: string;
  /** JSON text. */
  inputJson: string;
  expiresAt: Date;
}

export interface ClosedClientCall {
  eventId: string;
  status: 'answered' | 'expired' | 'cancelled';
  answer?: {
    /** JSON text. */
    outputJson: string;
    isError: boolean;
    /** usr_… */
    answeredBy: string;
    /** Null for a result without image and file parts. */
    requestSha256: string | null;
  };
}

export function draft<T extends EventType>(
  type: T,
  data: EventData<T>,
  actor: Actor,
  more: { turnId?: string | undefined; traceparent?: string | undefined } = {},
): EventDraft {
  return { type, dataJson: JSON.stringify(data), actor, ...more };
}

/** Returns a change that leaves the session as it is, for the caller to fill in. */
export function unchanged(state: SessionState): Change {
  return {
    drafts: [],
    head: {
      status: state.status,
      stopReason: state.stopReason,
      queuedTurns: state.queuedTurns,
      queueHeld: state.queueHeld,
      fence: state.fence,
      currentTurnId: state.current?.turnId ?? null,
      usage: state.usage,
      toolsOfferedSha256: state.toolsOfferedSha256,
      contextJson: state.contextJson,
    },
    turns: [],
  };
}

/**
 * Returns the state after a change that leaves the queue of the session empty. `lastSeq` is the seq of the last event of
 * the change.
 */
export function stateAfter(state: SessionState, change: Change, lastSeq: number): SessionState {
  const { head, turns } = change;
  const { currentTurnId, ...rest } = head;
  const current = turns.find((turn) => turn.turnId === currentTurnId) ?? state.current;
  const nowCurrent = current?.turnId === currentTurnId ? current : null;
  const hasSignals = state.hasSignals || change.beginsSignals === true;
  return { ...state, ...rest, hasSignals, lastSeq, current: nowCurrent, next: null, isSteered: false };
}
