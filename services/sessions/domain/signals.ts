import type { EventType } from '../../../lib/event-types.ts';
import type { Change, EventDraft } from './change.ts';
import { INTERRUPTED } from './finish.ts';
import type { SessionState, TurnState } from './state.ts';
import { publicUsage } from './turn-fields.ts';

type SignalKind =
  | 'turn_ended'
  | 'turn_blocked'
  | 'turn_queued'
  | 'turn_resumed'
  | 'approval_requested'
  | 'approval_decided'
  | 'session_deleted';

/** The state of a turn, for the service that has queued it. JSON texts are null when they do not apply. */
export interface TurnSummary {
  turnId: string;
  status: TurnState['status'];
  stopReasonJson: string | null;
  usageJson: string | null;
  errorJson: string | null;
  startedAt: Date | null;
  finishedAt: Date | null;
}

/** A change that the service which uses the session must learn of. */
export interface Signal {
  kind: SignalKind;
  sessionId: string;
  /** Undefined for session_deleted. */
  turn: TurnSummary | undefined;
  /** Only of approvals. */
  approvalId: string | undefined;
}

/** The events that are signalled. */
const SIGNALLED: Partial<Record<EventType, SignalKind>> = {
  'turn.queued': 'turn_queued',
  'turn.blocked': 'turn_blocked',
  'turn.completed': 'turn_ended',
  'turn.failed': 'turn_ended',
  'turn.interrupted': 'turn_ended',
  'turn.cancelled': 'turn_ended',
  // Also of an approval that has expired or was cancelled.
  'approval.requested': 'approval_requested',
  'approval.decided': 'approval_decided',
  'session.deleted': 'session_deleted',
};

const NONE: readonly Signal[] = [];

/** Returns the signals of a change, in the order of its events. None for a session that no schedule or channel uses. */
export function signalsOf(state: SessionState, change: Change, now: Date): readonly Signal[] {
  if (!state.hasSignals && !change.beginsSignals) return NONE;
  const { sessionId } = state;
  const signals = change.drafts.flatMap((event): Signal[] => {
    const kind = SIGNALLED[event.type];
    if (!kind) return [];
    const { turnId } = event;
    if (turnId !== undefined && isCompaction(change, turnId)) return [];
    const turn = turnId === undefined ? undefined : summaryAfter(change, turnId, now);
    return [{ kind, sessionId, turn, approvalId: approvalIdOf(event) }];
  });
  const resumed = resumedTurn(state, change);
  if (!resumed) return signals;
  const turn = summaryOf(resumed, null);
  return [...signals, { kind: 'turn_resumed', sessionId, turn, approvalId: undefined }];
}

/** A compaction answers no message of a schedule or channel. */
function isCompaction({ turns, newTurn }: Change, turnId: string): boolean {
  const turn = [newTurn, ...turns].find((one) => one?.turnId === turnId);
  return turn?.kind === 'compaction';
}

/** `stopReasonJson` is the stop reason of a turn that has ended or is blocked. Null otherwise. */
export function summaryOf(turn: TurnState, stopReasonJson: string | null): TurnSummary {
  const { turnId, status, errorJson, startedAt, finishedAt, usage } = turn;
  const usageJson = finishedAt === null ? null : JSON.stringify(publicUsage(usage));
  return { turnId, status, stopReasonJson, usageJson, errorJson, startedAt, finishedAt };
}

function summaryAfter(change: Change, turnId: string, now: Date): TurnSummary {
  const turn = change.turns.find((one) => one.turnId === turnId);
  if (turn) return summaryOf(turn, stopReasonOf(turn, change));
  const isNew = change.newTurn?.turnId === turnId;
  return isNew ? queuedSummary(turnId) : { ...queuedSummary(turnId), ...cancelledAt(now) };
}

/** A turn that has just been queued. */
export function queuedSummary(turnId: string): TurnSummary {
  return {
    ...{ turnId, status: 'queued', stopReasonJson: null, usageJson: null, errorJson: null },
    ...{ startedAt: null, finishedAt: null },
  };
}

/** A deletion cancels the queued turns of the session without reading them. */
function cancelledAt(now: Date) {
  return { status: 'cancelled', stopReasonJson: JSON.stringify(INTERRUPTED), finishedAt: now } as const;
}

/** A turn that ends or blocks sets the stop reason of the session, unless it never ran or the session is deleted. */
function stopReasonOf({ status, startedAt }: TurnState, { head }: Change): string | null {
  if (status === 'queued' || status === 'in_progress') return null;
  // Its message was delivered into another turn.
  if (status === 'completed' && startedAt === null) return JSON.stringify({ type: 'end_turn' });
  const isStopped = status === 'interrupted' || status === 'cancelled';
  return JSON.stringify(isStopped ? INTERRUPTED : head.stopReason);
}

/** The blocked turn that waits for nothing any more. */
function resumedTurn({ current }: SessionState, { turns }: Change): TurnState | undefined {
  if (current?.status !== 'blocked') return undefined;
  return turns.find(({ turnId, status }) => turnId === current.turnId && status === 'queued');
}

function approvalIdOf({ type, dataJson }: EventDraft): string | undefined {
  if (type !== 'approval.requested' && type !== 'approval.decided') return undefined;
  return (JSON.parse(dataJson) as { approval_id: string }).approval_id;
}
