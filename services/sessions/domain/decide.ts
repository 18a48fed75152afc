import { refuse, refuseField } from '../../../lib/errors.ts';
import type { Actor } from '../../../lib/events.ts';
import { SYSTEM } from './begin.ts';
import { type Change, type Draft, draft, type SettledApproval, unchanged } from './change.ts';
import { traceOf } from './finish.ts';
import type { ApprovalKind, CallApproval, SessionState, TurnState } from './state.ts';

/** What somebody says to a question. */
export interface Answer {
  approvalId: string;
  decision: string;
  /** Empty for none. */
  reason: string;
  /** JSON text; empty to leave the input as it is. */
  editedInputJson: string;
  /** Of the edited input. */
  editedSha256: string;
  actor: Actor;
}

const DECISIONS: Record<ApprovalKind, readonly string[]> = {
  tool: ['allow', 'deny'],
  outcome_unknown: ['retry', 'mark_done', 'mark_failed'],
};

/** Why an approval that nobody decided counts as denied. */
const EXPIRED = 'expired';

export function decisionProblem(kind: string, { decision, editedInputJson }: Answer): void {
  const possible = DECISIONS[kind as ApprovalKind] ?? [];
  if (!possible.includes(decision)) {
    throw refuseField('/decision', `must be one of ${possible.join(', ')} for this approval`);
  }
  if (editedInputJson !== '' && decision !== 'allow') {
    throw refuseField('/edited_input', 'goes only with the decision allow');
  }
}

/** Somebody decides. The turn goes on when nothing is left to decide. */
export function decide(state: SessionState, answer: Answer): Change {
  const turn = waitingFor(state, answer.approvalId);
  if (!turn) throw alreadyDecided();
  const { approvalId, decision, reason, editedInputJson, editedSha256, actor } = answer;
  const said = reason === '' ? {} : { reason };
  const edited = editedInputJson === '' ? {} : { edited_input: JSON.parse(editedInputJson) as unknown };
  const drafts = [
    draft(
      'user.tool_approval',
      { approval_id: approvalId, decision, ...said, ...edited },
      actor,
      traceOf(turn),
    ),
    draft(
      'approval.decided',
      { approval_id: approvalId, decision, by: actor.id, ...said },
      SYSTEM,
      traceOf(turn),
    ),
  ];
  const settled: SettledApproval = {
    approvalId,
    status: 'decided',
    decision,
    decidedBy: actor.id,
    ...said,
    ...(editedInputJson === '' ? {} : { editedInputJson, editedSha256 }),
  };
  return settle(state, turn, decision, drafts, settled);
}

/** Nobody has decided in time: that counts as denied, and is not said to be anybody's decision. */
export function expire(state: SessionState, approvalId: string): Change {
  const turn = waitingFor(state, approvalId);
  const settled: SettledApproval = { approvalId, status: 'expired', reason: EXPIRED };
  // A question whose turn has gone must not stay open, whatever became of the turn.
  if (!turn) return { ...unchanged(state), settled: [settled] };
  const data = { approval_id: approvalId, decision: 'deny', by: 'system', reason: EXPIRED };
  const drafts = [draft('approval.decided', data, SYSTEM, traceOf(turn))];
  return settle(state, turn, EXPIRED, drafts, settled);
}

export function alreadyDecided() {
  return refuse('APPROVAL_ALREADY_DECIDED', 'this approval is not open any more');
}

/** The blocked turn that waits for this approval. */
function waitingFor({ current }: SessionState, approvalId: string): TurnState | undefined {
  if (current?.status !== 'blocked') return undefined;
  const waits = current.calls.some(({ approval }) => isOpen(approval, approvalId));
  return waits ? current : undefined;
}

function isOpen(approval: CallApproval | null, approvalId: string): boolean {
  return approval?.approvalId === approvalId && approval.decision === null;
}

function settle(
  state: SessionState,
  turn: TurnState,
  decision: string,
  drafts: Draft[],
  settled: SettledApproval,
): Change {
  const calls = turn.calls.map((call) =>
    call.approval && isOpen(call.approval, settled.approvalId)
      ? { ...call, approval: { ...call.approval, decision } }
      : call,
  );
  const change = { ...unchanged(state), drafts, settled: [settled], turns: [{ ...turn, calls }] };
  if (calls.some(({ approval }) => approval?.decision === null)) return change;
  change.turns = [{ ...turn, calls, status: 'queued', ready: true }];
  change.head = {
    ...change.head,
    status: 'pending',
    currentTurnId: null,
    queuedTurns: state.queuedTurns + 1,
  };
  // With others behind it the session is pending already.
  if (state.status !== 'pending') {
    const { turnId } = turn;
    change.drafts.push(draft('session.status_pending', { turn_id: turnId }, SYSTEM, { turnId }));
  }
  return change;
}
