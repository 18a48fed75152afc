import { Type } from 'typebox';
import { refuseField } from '../../../../lib/errors.ts';
import type { Approval } from '../../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { APPROVAL_STATUSES, serializeApproval } from '../../../schemas/approvals.ts';
import { AnyObject, closed, nullable, optional, pageRequest, paging, text } from '../../../schemas/common.ts';
import type { McpOperation } from '../operation.ts';
import { ownSession } from '../session-access.ts';
import { READS, tool } from '../tool.ts';
import { consoleUrl } from '../turn-result.ts';
import { nextCursor, sessionId } from './members.ts';

const ApprovalOutput = Type.Object({
  approval_id: Type.String(),
  turn_id: Type.String(),
  kind: Type.String({ description: '`tool`, `outcome_unknown`, `authorization` or `input`.' }),
  tool_name: nullable(Type.String()),
  input: Type.Unknown({ description: 'The input of the tool call.' }),
  edited_input: Type.Unknown(),
  status: Type.Enum([...APPROVAL_STATUSES]),
  decision: nullable(Type.String()),
  reason: nullable(Type.String()),
  created_at: Type.String(),
  expires_at: Type.String(),
});

function shownApproval(approval: Approval | undefined) {
  const { approval_id, turn_id, kind, tool_name, input, edited_input, status, decision, reason, ...times } =
    JSON.parse(serializeApproval(approval));
  const { created_at, expires_at } = times;
  return {
    ...{ approval_id, turn_id, kind, tool_name, input, edited_input, status, decision, reason },
    ...{ created_at, expires_at },
  };
}

export const approvalTools = [
  tool({
    name: 'list_approvals',
    title: 'List approvals',
    description:
      'Lists the approvals that turns of a conversation have requested, newest first. With `status: "pending"`, those that the ' +
      'agent waits for: show them to the user with the exact input.',
    annotations: READS,
    input: closed({
      session_id: sessionId('the conversation'),
      status: optional(
        Type.Enum([...APPROVAL_STATUSES], { description: 'Only approvals with this status.' }),
      ),
      ...paging,
    }),
    output: Type.Object({ approvals: Type.Array(ApprovalOutput), next_cursor: nextCursor }),
    async call(args, operation) {
      const { sessionId: id } = await ownSession(operation, args.session_id);
      const { approvals, page } = await operation.context.clients.sessions.listApprovals(
        { sessionId: id, page: pageRequest(args), status: args.status ?? '' },
        operation.call,
      );
      return {
        structured: { approvals: approvals.map(shownApproval), next_cursor: page?.nextCursor || null },
      };
    },
  }),

  tool({
    name: 'answer_approval',
    title: 'Answer an approval',
    description:
      'Allows or denies a tool call that an agent waits for. Use it only to pass on the decision of the user, who has seen the ' +
      'tool and its exact input. Then call `wait_for_turn`.',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
    requires: 'approve',
    input: closed({
      session_id: sessionId('the conversation'),
      approval_id: Type.String({ maxLength: 100, description: 'apr_...: the approval' }),
      decision: Type.Enum(['allow', 'deny']),
      reason: optional(text('The reason that the agent is told.', { maxLength: 2_000 })),
      edited_input: optional(AnyObject('The input that replaces that of the agent. Only with `allow`.')),
    }),
    output: Type.Object({ approval: ApprovalOutput }),
    async call(args, operation) {
      const { sessionId: id } = await ownSession(operation, args.session_id);
      await checkKind(operation, id, args.approval_id);
      const { approval } = await operation.context.clients.sessions.decideApproval(
        {
          sessionId: id,
          approvalId: args.approval_id,
          decision: args.decision,
          reason: args.reason ?? '',
          editedInputJson: args.edited_input ? JSON.stringify(args.edited_input) : '',
        },
        operation.call,
      );
      return { structured: { approval: shownApproval(approval) } };
    },
  }),
];

const PAGE_APPROVALS = 100;

/** Other kinds need more than a yes or no, or send credentials: the owner of the session decides them in the console. */
async function checkKind(operation: McpOperation, id: string, approvalId: string): Promise<void> {
  const { approvals } = await operation.context.clients.sessions.listApprovals(
    { sessionId: id, page: { limit: PAGE_APPROVALS, cursor: '' }, status: 'pending' },
    operation.call,
  );
  const kind = approvals.find((approval) => approval.approvalId === approvalId)?.kind ?? 'tool';
  if (kind !== 'tool')
    throw refuseField(
      '/approval_id',
      `is of the kind ${kind}, which is decided in the console: ${consoleUrl(operation, id)}`,
    );
}
