import { refuse, refuseField } from '../../../lib/errors.ts';
import type { Actor } from '../../../lib/event-parts.ts';
import type { ApprovalKind } from '../../../lib/event-types.ts';
import type { QuestionForm } from '../../../lib/question-form.ts';
import { requireFormContent } from './answer.ts';
import { type Change, type ClosedApproval, draft, type EventDraft, unchanged } from './change.ts';
import { SYSTEM_ACTOR } from './create.ts';
import { fail } from './finish.ts';
import { resume } from './resume.ts';
import type { CallApproval, OpenCall, SessionState, TurnState } from './state.ts';
import { traceFields } from './turn-fields.ts';

/** A user's decision about an approval. */
export interface ApprovalDecision {
  /** usr_… of the user who has decided. */
  decidedBy: string;
  /** The account in a messaging product with which the user has decided. Undefined for a decision elsewhere. */
  via?: string | undefined;
  approvalId: string;
  decision: string;
  /** Empty for none. */
  reason: string;
  /** JSON text. Empty when the input is not edited. */
  editedInputJson: string;
  /** The digest of the edited input. */
  editedSha256: string;
  /** JSON text of the content of an accepted form. Undefined for none. */
  contentJson?: string | undefined;
  actor: Actor;
  now: Date;
}

const DECISIONS: Record<ApprovalKind, readonly string[]> = {
  tool: ['allow', 'deny'],
  outcome_unknown: ['retry', 'mark_done', 'mark_failed'],
  authorization: ['retry', 'deny'],
  input: ['accept', 'decline', 'cancel'],
};

/** Decision and reason of an approval that was not decided in time. */
const EXPIRED = 'expired';

/**
 * Refuses a decision that does not fit the kind of the approval, and an edited input or content that does not fit the
 * decision or the form. `detailsJson` are the details of the approval as JSON text; null for none.
 */
export function validateDecision(
  kind: string,
  { decision, editedInputJson, contentJson }: ApprovalDecision,
  detailsJson: string | null = null,
): void {
  const possible = DECISIONS[kind as ApprovalKind] ?? [];
  if (!possible.includes(decision)) {
    throw refuseField('/decision', `must be one of ${possible.join(', ')} for this approval`);
  }
  if (editedInputJson !== '' && decision !== 'allow') {
    throw refuseField('/edited_input', 'is only allowed with the decision `allow`');
  }
  const details = JSON.parse(detailsJson ?? '{}') as { form?: QuestionForm };
  if (decision !== 'accept' || !details.form) {
    if (contentJson !== undefined)
      throw refuseField('/content', 'is only allowed with the decision `accept` about a form');
    return;
  }
  if (contentJson === undefined)
    throw refuseField('/content', 'is required, because the approval has a form');
  requireFormContent(details.form, JSON.parse(contentJson), '/content');
}

/**
 * Records a user's decision. The turn is queued again when all of its approvals are decided. It fails when its own
 * authorization is denied.
 */
export function decide(state: SessionState, input: ApprovalDecision): Change {
  const turn = turnAwaiting(state, input.approvalId);
  if (!turn) throw approvalAlreadyDecided();
  const { approvalId, decision, reason, editedInputJson, editedSha256, contentJson, actor, now } = input;
  const { decidedBy, via } = input;
  const reasonField = reason === '' ? {} : { reason };
  const viaField = via === undefined ? {} : { via };
  const edited = editedInputJson === '' ? {} : { edited_input: JSON.parse(editedInputJson) as unknown };
  const drafts = [
    draft(
      'user.tool_approval',
      { approval_id: approvalId, decision, ...reasonField, ...edited },
      actor,
      traceFields(turn),
    ),
    draft(
      'approval.decided',
      { approval_id: approvalId, decision, by: decidedBy, ...viaField, ...reasonField },
      SYSTEM_ACTOR,
      traceFields(turn),
    ),
  ];
  const closed: ClosedApproval = {
    approvalId,
    status: 'decided',
    decision,
    decidedBy,
    ...viaField,
    ...reasonField,
    ...(editedInputJson === '' ? {} : { editedInputJson, editedSha256 }),
    ...(contentJson !== undefined && { contentJson }),
  };
  return recordDecision(state, turn, { decision, drafts, closed, now });
}

/** Closes an approval that was not decided in time. It counts as denied, decided by no user. */
export function expire(state: SessionState, approvalId: string, now: Date): Change {
  const turn = turnAwaiting(state, approvalId);
  const closed: ClosedApproval = { approvalId, status: 'expired', reason: EXPIRED };
  // The approval of a turn that no longer waits must not stay open.
  if (!turn) return { ...unchanged(state), closedApprovals: [closed] };
  const isInput = turn.calls.some(
    (call) => isOpen(call.approval, approvalId) && call.approval?.kind === 'input',
  );
  const decision = isInput ? 'cancel' : 'deny';
  const data = { approval_id: approvalId, decision, by: 'system', reason: EXPIRED };
  const drafts = [draft('approval.decided', data, SYSTEM_ACTOR, traceFields(turn))];
  return recordDecision(state, turn, { decision: EXPIRED, drafts, closed, now });
}

export function approvalAlreadyDecided() {
  return refuse('APPROVAL_ALREADY_DECIDED', 'The approval is already decided, expired or cancelled.');
}

/** Returns the blocked turn that waits for this approval. */
function turnAwaiting({ current }: SessionState, approvalId: string): TurnState | undefined {
  if (current?.status !== 'blocked') return undefined;
  const ofCall = current.calls.some(({ approval }) => isOpen(approval, approvalId));
  return ofCall || current.approval?.approvalId === approvalId ? current : undefined;
}

function isOpen(approval: CallApproval | null, approvalId: string): boolean {
  return approval?.approvalId === approvalId && approval.decision === null;
}

interface RecordedDecision {
  decision: string;
  drafts: EventDraft[];
  closed: ClosedApproval;
  now: Date;
}

function recordDecision(state: SessionState, turn: TurnState, recorded: RecordedDecision): Change {
  const { decision, drafts, closed } = recorded;
  const { approvalId } = closed;
  if (turn.approval?.approvalId === approvalId)
    return recordOwnDecision(state, { ...turn, approval: null }, recorded);
  const decided = turn.calls.flatMap(({ approval }) =>
    isOpen(approval, approvalId) ? (approval?.kind ?? []) : [],
  );
  const calls = turn.calls.map((call): OpenCall => {
    const { approval } = call;
    if (!approval || !isOpen(approval, approvalId)) return call;
    const answer = approval.kind === 'input' && { answerId: approvalId };
    return { ...call, ...answer, approval: { ...approval, decision } };
  });
  const isProgress = decided.some((kind) => kind === 'authorization' || kind === 'input');
  const progress = isProgress && freshRetries(turn);
  return { ...resume(state, { ...turn, ...progress, calls }, drafts), closedApprovals: [closed] };
}

/** Queues the turn again, or fails it because its own authorization was denied or has expired. */
function recordOwnDecision(
  state: SessionState,
  turn: TurnState,
  { decision, drafts, closed, now }: RecordedDecision,
): Change {
  if (decision === 'retry')
    return { ...resume(state, { ...turn, ...freshRetries(turn) }, drafts), closedApprovals: [closed] };
  const failed = fail(state, turn, deniedAuthorization(decision, closed.reason), 'terminal', now);
  return {
    ...failed,
    drafts: [...drafts, ...failed.drafts],
    closedApprovals: [closed, ...(failed.closedApprovals ?? [])],
  };
}

function deniedAuthorization(decision: string, reason = '') {
  if (decision === EXPIRED)
    return {
      code: 'authorization_expired',
      message: 'The request for a credential of the turn was not decided in time.',
    };
  const denied = 'The request for a credential of the turn was denied';
  return { code: 'authorization_denied', message: reason === '' ? `${denied}.` : `${denied}: ${reason}` };
}

/** A person has changed the conditions under which the turn failed before. */
function freshRetries({ attempt }: TurnState) {
  return { failures: 0, lastProgressAttempt: attempt };
}
