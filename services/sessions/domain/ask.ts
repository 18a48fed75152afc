import { refuse } from '../../../lib/errors.ts';
import { SYSTEM } from './begin.ts';
import { type Change, draft, type NewApproval, unchanged } from './change.ts';
import { attemptOf, traceOf } from './finish.ts';
import type { ApprovalKind, OpenCall, SessionState, TurnState } from './state.ts';

/** What a turn wants to know of somebody, about a call that has no result. */
export interface Ask {
  kind: ApprovalKind;
  toolUseId: string;
  toolName: string;
  /** JSON text: what is approved is this, byte for byte. */
  inputJson: string;
  inputSha256: string;
  /** Of the approval to be made, and of the event that asks. */
  approvalId: string;
  eventId: string;
}

/** The turn waits, without a lease, until all of its questions are decided. */
export function block(state: SessionState, turn: TurnState, asks: readonly Ask[], expiresAt: Date): Change {
  if (asks.length === 0) throw refuse('INVALID_REQUEST', 'a turn that waits has something to ask');
  const change = unchanged(state);
  const requested: NewApproval[] = [];
  for (const { eventId, ...ask } of asks) {
    const { approvalId, kind, toolUseId, toolName, inputSha256 } = ask;
    const data = {
      approval_id: approvalId,
      kind,
      tool_use_id: toolUseId,
      tool_name: toolName,
      input_sha256: inputSha256,
      expires_at: expiresAt.toISOString(),
    };
    change.drafts.push({ ...draft('approval.requested', data, SYSTEM, traceOf(turn)), eventId });
    requested.push({ ...ask, turnId: turn.turnId, expiresAt });
  }
  const kind = asks.some((ask) => ask.kind === 'outcome_unknown') ? 'outcome_unknown' : 'tool_approval';
  const stopReason = {
    type: 'requires_action' as const,
    kind: kind as 'outcome_unknown' | 'tool_approval',
    blocking: asks.map(({ eventId }) => eventId),
  };
  change.drafts.push(draft('turn.blocked', attemptOf(turn), SYSTEM, traceOf(turn)));
  const { next } = state;
  change.drafts.push(
    next
      ? draft('session.status_pending', { turn_id: next.turnId }, SYSTEM, { turnId: next.turnId })
      : draft('session.status_idle', { stop_reason: stopReason }, SYSTEM, traceOf(turn)),
  );
  change.head = {
    ...change.head,
    status: next ? 'pending' : 'idle',
    stopReason,
    fence: state.fence + 1,
    currentTurnId: turn.turnId,
  };
  const calls = asks.reduce(asked, turn.calls);
  change.turns = [
    { ...turn, status: 'blocked', calls, runnerId: null, leaseUntil: null, openMessageId: null },
  ];
  change.requested = requested;
  return change;
}

function asked(calls: readonly OpenCall[], { toolUseId, approvalId, kind }: Ask): readonly OpenCall[] {
  const call = calls.find((one) => one.toolUseId === toolUseId);
  if (!call || call.approval?.decision === null) {
    throw refuse('INVALID_REQUEST', `nobody can be asked about the tool call ${toolUseId}`);
  }
  const approval = { approvalId, kind, dispatches: call.dispatches, decision: null };
  return calls.map((one) => (one === call ? { ...one, approval } : one));
}
