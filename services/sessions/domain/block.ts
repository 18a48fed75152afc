import { refuse } from '../../../lib/errors.ts';
import type { ApprovalDetails } from '../../../lib/event-parts.ts';
import type { ApprovalKind, ClientCallKind } from '../../../lib/event-types.ts';
import { type Change, draft, unchanged } from './change.ts';
import { SYSTEM_ACTOR } from './create.ts';
import { attemptFields } from './finish.ts';
import { requiredAction } from './required-action.ts';
import type { CallApproval, OpenCall, SessionState, TurnState } from './state.ts';
import { isPending } from './tool-calls.ts';
import { traceFields } from './turn-fields.ts';

interface RequestedCall {
  /** Empty for an approval that belongs to the turn itself and to none of its calls. It is of kind `authorization`. */
  toolUseId: string;
  toolName: string;
  /** JSON text. An approval applies to exactly these bytes. */
  inputJson: string;
}

/** A turn's request that a user decides about an open tool call. */
export interface ApprovalRequest extends RequestedCall {
  kind: ApprovalKind;
  inputSha256: string;
  /** Id of the new approval. */
  approvalId: string;
  /** Id of its `approval.requested` event. */
  eventId: string;
  /** Further calls that wait for this approval. */
  alsoFor?: readonly string[];
  /** JSON text of the details that are shown. Absent for the kinds without details. */
  detailsJson?: string | undefined;
  /** mcp_… Only of kind `authorization`. */
  mcpServerId?: string | undefined;
  /** The sealed state of the tool. Only of kind `input`. */
  sealedState?: Uint8Array | undefined;
}

/** A turn's request that the client answers an open tool call. */
export interface AnswerRequest extends RequestedCall {
  kind: ClientCallKind;
  isEdited: boolean;
}

export interface BlockRequests {
  approvals: readonly ApprovalRequest[];
  answers: readonly AnswerRequest[];
}

/** Blocks the turn: it waits without a lease until all of its approvals are decided and all of its answers are given. */
export function block(
  state: SessionState,
  turn: TurnState,
  { approvals, answers }: BlockRequests,
  expiresAt: Date,
): Change {
  const change = unchanged(state);
  change.newApprovals = approvals.map(({ eventId: _event, alsoFor: _calls, ...request }) => ({
    ...request,
    turnId: turn.turnId,
    expiresAt,
  }));
  change.drafts.push(...approvals.map((request) => requestDraft(request, turn, expiresAt)));
  const own = approvals.find(({ kind, toolUseId }) => kind === 'authorization' && toolUseId === '');
  const ofCalls = approvals.filter((request) => request !== own);
  const calls = answers.reduce(withAnswerRequest, ofCalls.reduce(withApproval, turn.calls));
  const approval = own ? { approvalId: own.approvalId, eventId: own.eventId } : null;
  change.newClientCalls = answers.map(({ kind, toolUseId, toolName: name, inputJson }) => {
    const { eventId } = awaitedCall(calls, toolUseId);
    return { eventId, turnId: turn.turnId, kind, toolUseId, name, inputJson, expiresAt };
  });
  const stopReason = requiredAction({ approval, calls });
  if (!stopReason) throw refuse('INVALID_REQUEST', 'A blocked turn must request an approval or an answer.');
  const blocked = { ...attemptFields(turn), kind: stopReason.kind };
  change.drafts.push(draft('turn.blocked', blocked, SYSTEM_ACTOR, traceFields(turn)));
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
  change.turns = [
    { ...turn, status: 'blocked', calls, approval, runnerId: null, leaseUntil: null, openMessageId: null },
  ];
  return change;
}

function requestDraft(request: ApprovalRequest, turn: TurnState, expiresAt: Date) {
  const { approvalId, kind, toolUseId, toolName, inputSha256, eventId, alsoFor = [], detailsJson } = request;
  const data = {
    approval_id: approvalId,
    kind,
    ...(toolUseId !== '' && { tool_use_id: toolUseId, tool_name: toolName, input_sha256: inputSha256 }),
    ...(alsoFor.length > 0 && { tool_use_ids: [toolUseId, ...alsoFor] }),
    ...(detailsJson !== undefined && { details: JSON.parse(detailsJson) as ApprovalDetails }),
    expires_at: expiresAt.toISOString(),
  };
  return { ...draft('approval.requested', data, SYSTEM_ACTOR, traceFields(turn)), eventId };
}

function withApproval(
  calls: readonly OpenCall[],
  { toolUseId, alsoFor = [], approvalId, kind, eventId }: ApprovalRequest,
): readonly OpenCall[] {
  return [toolUseId, ...alsoFor].reduce((open, id) => {
    const call = unrequestedCall(open, id);
    const { dispatches, approval: former } = call;
    const inputFrom = kind === 'authorization' ? inputSource(former) : undefined;
    const approval = {
      approvalId,
      kind,
      dispatches,
      decision: null,
      eventId,
      ...(inputFrom && { inputFrom }),
    };
    return open.map((one) => (one === call ? { ...one, approval } : one));
  }, calls);
}

/** The approval whose input the call has. An authorization has none of its own. */
function inputSource(former: CallApproval | null): string | undefined {
  return former?.kind === 'authorization' ? former.inputFrom : former?.approvalId;
}

function withAnswerRequest(
  calls: readonly OpenCall[],
  { toolUseId, kind, isEdited }: AnswerRequest,
): readonly OpenCall[] {
  const call = unrequestedCall(calls, toolUseId);
  const { client } = call;
  if (client?.kind !== kind)
    throw refuse('INVALID_REQUEST', `Tool call ${toolUseId} was not journalled as a call of kind ${kind}.`);
  const awaited = { ...client, isAwaited: true, ...(isEdited && { isEdited }) };
  return calls.map((one) => (one === call ? { ...one, client: awaited } : one));
}

function unrequestedCall(calls: readonly OpenCall[], toolUseId: string): OpenCall {
  const call = calls.find((one) => one.toolUseId === toolUseId);
  if (!call || isPending(call))
    throw refuse('INVALID_REQUEST', `Tool call ${toolUseId} is not open or already waits for a user.`);
  return call;
}

function awaitedCall(calls: readonly OpenCall[], toolUseId: string) {
  const client = calls.find((one) => one.toolUseId === toolUseId)?.client;
  if (!client) throw refuse('INVALID_REQUEST', `Tool call ${toolUseId} is not open.`);
  return client;
}
