import { sha256 } from '../../../lib/digest.ts';
import { Refusal, refuse } from '../../../lib/errors.ts';
import { callerOf, onBehalf } from '../../../lib/grpc/caller.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import type { Approval, SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { owned } from '../domain/access.ts';
import { type Answer, alreadyDecided, decide, decisionProblem } from '../domain/decide.ts';
import type { ApprovalRow } from '../store/approvals.ts';
import type { Decide } from '../store/changes.ts';
import { actorOf } from './actor.ts';
import type { HandlerContext } from './context.ts';
import { parseLine } from './json.ts';

type Methods = Pick<Handlers<SessionsServiceDefinition>, 'listApprovals' | 'decideApproval'>;

const STATUSES: readonly string[] = ['', 'pending', 'decided', 'expired', 'cancelled'];
const FIRST_PAGE = { limit: 50, cursor: '' };

/** The questions that turns wait for. */
export function approvalHandlers({ approvals, changes, reach }: HandlerContext): Methods {
  async function read(sessionId: string, approvalId: string, call: Call): Promise<ApprovalRow> {
    const row = await approvals.one(sessionId, approvalId, onBehalf(call));
    if (!row) throw refuse('APPROVAL_NOT_FOUND', `the session has no approval ${approvalId}`);
    return row;
  }

  return {
    async listApprovals({ sessionId, page, status }, call) {
      if (!STATUSES.includes(status)) throw refuse('INVALID_REQUEST', `there is no status ${status}`);
      const { by } = await reach.reading(sessionId, call);
      const { rows, nextCursor } = await approvals.page(sessionId, status, page ?? FIRST_PAGE, by);
      return { approvals: rows.map(approvalOf), page: { nextCursor } };
    },

    async decideApproval({ sessionId, approvalId, ...said }, call) {
      await reach.own(sessionId, call);
      const row = await read(sessionId, approvalId, call);
      const answer: Answer = { ...said, ...edit(said.editedInputJson), approvalId, actor: actorOf(call) };
      decisionProblem(row.kind, answer);
      const decision: Decide = (state) => ({
        change: decide(owned(state, sessionId, callerOf(call).userId), answer),
      });
      if (row.status === 'pending') {
        const bytes = answer.editedInputJson.length + 1_000;
        await changes.change(sessionId, bytes, decision, call).catch((error: unknown) => {
          // Somebody else was faster: what they said is looked at below.
          if (!(error instanceof Refusal) || error.code !== 'APPROVAL_ALREADY_DECIDED') throw error;
        });
      }
      const decided = await read(sessionId, approvalId, call);
      if (!agrees(decided, answer)) throw alreadyDecided();
      return { approval: approvalOf(decided) };
    },
  };
}

/** The edited input as it will be run and shown; the digest is that of this very text. */
function edit(json: string): Pick<Answer, 'editedInputJson' | 'editedSha256'> {
  if (json === '') return { editedInputJson: '', editedSha256: '' };
  const editedInputJson = JSON.stringify(parseLine(json, 'the edited input'));
  return { editedInputJson, editedSha256: sha256(editedInputJson) };
}

/** Whether an answer says what was decided. Saying so again changes nothing. */
function agrees(row: ApprovalRow, { decision, editedInputJson }: Answer): boolean {
  return (
    row.status === 'decided' &&
    row.decision === decision &&
    (editedInputJson === '' || editedInputJson === row.edited_input)
  );
}

function approvalOf(row: ApprovalRow): Approval {
  return {
    approvalId: row.approval_id,
    sessionId: row.session_id,
    turnId: row.turn_id,
    kind: row.kind,
    toolUseId: row.tool_use_id,
    toolName: row.tool_name,
    inputJson: row.input,
    inputSha256: row.input_sha256,
    status: row.status,
    decision: row.decision ?? '',
    reason: row.reason ?? '',
    editedInputJson: row.edited_input ?? '',
    decidedBy: row.decided_by ?? '',
    requestedBy: row.requested_by,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    decidedAt: row.decided_at ?? undefined,
  };
}
