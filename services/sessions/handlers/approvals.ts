import { sha256 } from '../../../lib/digest.ts';
import { Refusal, refuse, refuseField } from '../../../lib/errors.ts';
import { callerOf, databaseOptionsOf } from '../../../lib/grpc/caller.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import type {
  Approval,
  DecideApprovalRequest,
  SessionsServiceDefinition,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { requireOwned } from '../domain/access.ts';
import { type ApprovalDecision, approvalAlreadyDecided, decide, validateDecision } from '../domain/decide.ts';
import { checkPage } from '../domain/page.ts';
import { sameJson } from '../domain/same-json.ts';
import type { ApprovalRow, ApprovalWithContent } from '../store/approvals.ts';
import type { DecideChange } from '../store/decisions.ts';
import type { SessionsHandlerContext } from './context.ts';
import { deciderOf } from './decider.ts';
import { parseSingleLineJson } from './json.ts';

type Methods = Pick<
  Handlers<SessionsServiceDefinition>,
  'listApprovals' | 'decideApproval' | 'resolveAuthorizations'
>;

/** About how many bytes a decision writes. */
const DECISION_BYTES = 1_000;
const STATUSES: readonly string[] = ['', 'pending', 'decided', 'expired', 'cancelled'];

/** Handlers that list and decide the approvals that turns wait for. */
export function approvalHandlers({
  approvals,
  changes,
  access,
  record,
  resolver,
  clock,
}: SessionsHandlerContext): Methods {
  async function read(sessionId: string, approvalId: string, call: Call): Promise<ApprovalWithContent> {
    const row = await approvals.one(sessionId, approvalId, databaseOptionsOf(call));
    if (!row) throw refuse('APPROVAL_NOT_FOUND', `The session has no approval ${approvalId}.`);
    return row;
  }

  /** Records the decision of another user than the owner of the session in the name of that user. */
  async function recordDecision(
    { sessionId, actor }: DecideApprovalRequest,
    { approvalId, decision, decidedBy, via }: ApprovalDecision,
    call: Call,
  ): Promise<void> {
    if (decidedBy === callerOf(call).userId) return;
    const ids = { deployment_id: actor?.deploymentId, delivery_id: actor?.deliveryId };
    const data = { approval_id: approvalId, decision, via, ...ids };
    const act = { action: 'approval.decide', targetId: sessionId, data } as const;
    await record(act, { ...call, caller: { userId: decidedBy, roles: [] } });
  }

  return {
    async listApprovals({ sessionId, page, status }, call) {
      if (!STATUSES.includes(status))
        throw refuse(
          'INVALID_REQUEST',
          `Unknown status \`${status}\`. Use pending, decided, expired or cancelled.`,
        );
      const { options } = await access.readAccess(sessionId, call);
      const { rows, nextCursor } = await approvals.page(sessionId, status, checkPage(page), options);
      return { approvals: rows.map(approvalOf), page: { nextCursor } };
    },

    async decideApproval(request, call) {
      const { sessionId, approvalId } = request;
      const decider = deciderOf(request, call);
      await access.requireOwner(sessionId, call);
      const row = await read(sessionId, approvalId, call);
      const isChannel = decider.via !== undefined;
      if (isChannel) requireDecidableInChannel(row);
      const decision: ApprovalDecision = {
        ...parseEditedInput(request.editedInputJson),
        ...decider,
        decision: request.decision,
        reason: request.reason,
        contentJson: parseContent(request.contentJson),
        approvalId,
        now: clock.now(),
      };
      validateDecision(row.kind, decision, row.details);
      const change: DecideChange = (state) => ({
        change: decide(requireOwned(state, sessionId, callerOf(call).userId), decision),
      });
      if (row.status === 'pending') {
        if (isChannel) await recordDecision(request, decision, call);
        const bytes = decision.editedInputJson.length + DECISION_BYTES;
        await changes.change(sessionId, bytes, change, call).catch((error: unknown) => {
          // A concurrent decision was first. It is compared with this one below.
          if (!(error instanceof Refusal) || error.code !== 'APPROVAL_ALREADY_DECIDED') throw error;
        });
      }
      const decided = await read(sessionId, approvalId, call);
      const isAnswered = isChannel ? decided.status !== 'pending' : isSameDecision(decided, decision);
      if (!isAnswered) throw approvalAlreadyDecided();
      return { approval: approvalOf(decided) };
    },

    async resolveAuthorizations({ userId, mcpServerId }, call) {
      return { resolved: await resolver.resolve({ userId, mcpServerId }, call) };
    },
  };
}

/** The other kinds need more than a yes or no, or concern the owner's credentials. */
function requireDecidableInChannel({ kind }: ApprovalRow): void {
  if (kind !== 'tool')
    throw refuseField('/approval_id', `is of kind ${kind}; a channel can decide only the kind tool`);
}

/** Returns the content of a form on one line. */
function parseContent(json: string | undefined): string | undefined {
  return json === undefined ? undefined : JSON.stringify(parseSingleLineJson(json, 'content'));
}

/** Returns the edited input as it will be run and shown, with the digest of that text. */
function parseEditedInput(json: string): Pick<ApprovalDecision, 'editedInputJson' | 'editedSha256'> {
  if (json === '') return { editedInputJson: '', editedSha256: '' };
  const editedInputJson = JSON.stringify(parseSingleLineJson(json, 'edited_input'));
  return { editedInputJson, editedSha256: sha256(editedInputJson) };
}

/** Whether the stored decision is the given one. A repeated decision succeeds and changes nothing. */
function isSameDecision(
  row: ApprovalWithContent,
  { decision, editedInputJson, contentJson = 'null' }: ApprovalDecision,
): boolean {
  return (
    row.status === 'decided' &&
    row.decision === decision &&
    (editedInputJson === '' || editedInputJson === row.edited_input) &&
    sameJson(JSON.parse(contentJson), JSON.parse(row.content ?? 'null'))
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
    detailsJson: row.details ?? undefined,
    decidedBy: row.decided_by ?? '',
    via: row.via ?? undefined,
    requestedBy: row.requested_by,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    decidedAt: row.decided_at ?? undefined,
  };
}
