import { mapPointers, Refusal, refuse } from '../../lib/errors.ts';
import type { CallOptions } from '../../lib/grpc/contract.ts';
import type { Approval } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { Clients } from '../clients.ts';
import { outputPointer } from '../schemas/tool-output.ts';
import type { Answers, ApprovalAnswer } from './answers.ts';

const PAGE = 100;

/**
 * Decides the approvals and submits the results of a message. Returns the id of their turn. An answer that is refused,
 * because it is late for example, does not prevent the others; the first refusal is thrown after all of them. Outputs that
 * the service wrote itself, for a call with an invalid input, are skipped beside other answers.
 */
export async function submitAnswers(
  sessions: Clients['sessions'],
  sessionId: string,
  { approvals, results }: Answers,
  call: CallOptions,
): Promise<string> {
  const found = await findApprovals(sessions, sessionId, approvals, call);
  let turnId = '';
  let failure: unknown;
  const attempt = async (submit: () => Promise<string | undefined>) => {
    try {
      turnId = (await submit()) ?? turnId;
    } catch (error) {
      if (failure === undefined || isUnknownCall(failure)) failure = error;
    }
  };
  for (const { approvalId, approved, reason } of approvals) {
    const decision = decisionOf(found.get(approvalId), approved);
    const request = { sessionId, approvalId, decision, reason, editedInputJson: '' };
    await attempt(async () => (await sessions.decideApproval(request, call)).approval?.turnId);
  }
  for (const { pointer, isSinglePart, ...result } of results) {
    const request = { sessionId, ...result };
    await attempt(async () => {
      const { toolCall } = await sessions.submitToolResult(request, call).catch((error: unknown) => {
        throw mapPointers(error, (at) => pointer + outputPointer(at, '/output', isSinglePart));
      });
      return toolCall?.turnId;
    });
  }
  if (failure && !(turnId !== '' && isUnknownCall(failure))) throw failure;
  return turnId;
}

function isUnknownCall(error: unknown): boolean {
  return error instanceof Refusal && error.code === 'TOOL_CALL_NOT_FOUND';
}

async function findApprovals(
  sessions: Clients['sessions'],
  sessionId: string,
  answers: readonly ApprovalAnswer[],
  call: CallOptions,
): Promise<Map<string, Approval>> {
  const ids = new Set(answers.map(({ approvalId }) => approvalId));
  const found = new Map<string, Approval>();
  for (let cursor: string | undefined = ids.size === 0 ? undefined : ''; cursor !== undefined; ) {
    const request = { sessionId, page: { limit: PAGE, cursor }, status: '' };
    const { approvals, page } = await sessions.listApprovals(request, call);
    for (const approval of approvals)
      if (ids.has(approval.approvalId)) found.set(approval.approvalId, approval);
    cursor = found.size === ids.size ? undefined : page?.nextCursor || undefined;
  }
  if (found.size < ids.size) throw refuse('APPROVAL_NOT_FOUND', 'The session has no such approval.');
  return found;
}

/**
 * AI SDK answers with approved or not. For a call with an unknown outcome, `approved` means that the call is repeated; for
 * an input, that a link is accepted. A form needs content, which only the route of the approval takes.
 */
function decisionOf(approval: Approval | undefined, approved: boolean): string {
  if (approval?.kind === 'outcome_unknown') return approved ? 'retry' : 'mark_failed';
  if (approval?.kind === 'authorization') return approved ? 'retry' : 'deny';
  if (approval?.kind === 'input') return approved ? 'accept' : 'decline';
  return approved ? 'allow' : 'deny';
}
