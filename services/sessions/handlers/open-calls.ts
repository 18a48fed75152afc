import type { CallDecision, OpenCall } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { CallApproval, TurnState } from '../domain/state.ts';
import type { StateSealer } from '../state-sealer.ts';
import type { ApprovalWithState } from '../store/approvals.ts';

/** Returns the open calls of a turn with the decisions about them, as the runner of the turn gets them. */
export function openCallsOf(
  { calls }: TurnState,
  approvals: ReadonlyMap<string, ApprovalWithState>,
  stateSealer: StateSealer,
): OpenCall[] {
  function stateOf({ approval_id: approvalId, state }: ApprovalWithState): Buffer {
    return state ? stateSealer.open(state, approvalId) : Buffer.alloc(0);
  }

  function decisionOf(
    row: ApprovalWithState,
    dispatches: number,
    inputRow?: ApprovalWithState,
  ): CallDecision {
    const { kind } = row;
    return {
      kind,
      decision: row.decision ?? row.status,
      reason: row.reason ?? '',
      ...inputOf(kind === 'authorization' ? inputRow : row),
      dispatches,
      detailsJson: (kind === 'authorization' && row.details) || undefined,
      ...(kind === 'input' && { contentJson: row.content ?? undefined, state: stateOf(row) }),
    };
  }

  const rowOf = (id: string | undefined) => (id === undefined ? undefined : approvals.get(id));
  return calls.map(({ toolUseId, dispatches, approval, answerId }) => {
    const row = rowOf(approval?.approvalId);
    const answer = rowOf(answerId);
    return {
      toolUseId,
      dispatches,
      decision: row && decisionOf(row, dispatchesOf(approval), rowOf(approval?.inputFrom)),
      answer: answer && decisionOf(answer, 0),
    };
  });
}

function dispatchesOf(approval: CallApproval | null): number {
  return approval?.dispatches ?? 0;
}

/** The input that the approval covers. Empty without one. */
function inputOf(row: ApprovalWithState | undefined) {
  return {
    inputJson: row?.edited_input ?? row?.input ?? '',
    inputSha256: row?.decided_sha256 ?? row?.input_sha256 ?? '',
    edited: (row?.edited_input ?? null) !== null,
  };
}
