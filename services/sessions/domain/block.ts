import { refuse } from '../../../lib/errors.ts';
import { type Change, draft, type NewApproval, unchanged } from './change.ts';
import { SYSTEM_ACTOR } from './create.ts';
import { attemptFields, traceFields } from './finish.ts';
import type { ApprovalKind, OpenCall, SessionState, TurnState } from './state.ts';

/** A turn's request that a user decides about an open tool call. */
export interface ApprovalRequest {
  kind: ApprovalKind;
  toolUseId: string;
  toolName: string;
  /** JSON text. The approval applies to exactly these bytes. */
  inputJson: string;
  inputSha256: string;
  /** Id of the new approval. */
  approvalId: string;
  /** Id of its `approval.requested` event. */
  eventId: string;
}

/** Blocks the turn: it waits without a lease until all of its approvals are decided. */
export function block(
  state: SessionState,
  turn: TurnState,
  requests: readonly ApprovalRequest[],
  expiresAt: Date,
): Change {
  if (requests.length === 0) throw refuse('INVALID_REQUEST', 'A blocked turn must request an approval.');
  const change = unchanged(state);
  const newApprovals: NewApproval[] = [];
  for (const { eventId, ...request } of requests) {
    const { approvalId, kind, toolUseId, toolName, inputSha256 } = request;
    const data = {
      approval_id: approvalId,
      kind,
      tool_use_id: toolUseId,
      tool_name: toolName,
      input_sha256: inputSha256,
      expires_at: expiresAt.toISOString(),
    };
    change.drafts.push({ ...draft('approval.requested', data, SYSTEM_ACTOR, traceFields(turn)), eventId });
    newApprovals.push({ ...request, turnId: turn.turnId, expiresAt });
  }
  const kind = requests.some((request) => request.kind === 'outcome_unknown')
    ? 'outcome_unknown'
    : 'tool_approval';
  const stopReason = {
    type: 'requires_action' as const,
    kind: kind as 'outcome_unknown' | 'tool_approval',
    blocking: requests.map(({ eventId }) => eventId),
  };
  change.drafts.push(draft('turn.blocked', attemptFields(turn), SYSTEM_ACTOR, traceFields(turn)));
  const { next } = state;
  change.drafts.push(
    next
      ? draft('session.status_pending', { turn_id: next.turnId }, SYSTEM_ACTOR, { turnId: next.turnId })
      : draft('session.status_idle', { stop_reason: stopReason }, SYSTEM_ACTOR, traceFields(turn)),
  );
  change.head = {
    ...change.head,
    status: next ? 'pending' : 'idle',
    stopReason,
    fence: state.fence + 1,
    currentTurnId: turn.turnId,
  };
  const calls = requests.reduce(withApproval, turn.calls);
  change.turns = [
    { ...turn, status: 'blocked', calls, runnerId: null, leaseUntil: null, openMessageId: null },
  ];
  change.newApprovals = newApprovals;
  return change;
}

function withApproval(
  calls: readonly OpenCall[],
  { toolUseId, approvalId, kind }: ApprovalRequest,
): readonly OpenCall[] {
  const call = calls.find((one) => one.toolUseId === toolUseId);
  if (!call || call.approval?.decision === null) {
    throw refuse('INVALID_REQUEST', `Tool call ${toolUseId} is not open or has a pending approval.`);
  }
  const approval = { approvalId, kind, dispatches: call.dispatches, decision: null };
  return calls.map((one) => (one === call ? { ...one, approval } : one));
}
