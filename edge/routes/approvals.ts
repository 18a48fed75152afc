import { Type } from 'typebox';
import { listOfJson, okJson } from '../envelope.ts';
import { route } from '../route.ts';
import {
  APPROVAL_STATUSES,
  ApprovalDecisionSchema,
  ApprovalShape,
  serializeApproval,
} from '../schemas/approvals.ts';
import { AnyObject, closed, optional, pageRequest, paging, text } from '../schemas/common.ts';

export const approvalRoutes = [
  route({
    method: 'GET',
    path: '/sessions/{session_id}/approvals',
    operationId: 'listApprovals',
    tag: 'Approvals',
    summary: 'List the approvals of a session',
    description: 'Returns the approvals that turns of the session have requested, newest first.',
    query: closed({
      ...paging,
      status: optional(
        Type.Enum([...APPROVAL_STATUSES], { description: 'Only approvals with this status.' }),
      ),
    }),
    success: { status: 200, description: 'A page of approvals.', data: ApprovalShape, list: true },
    errors: ['SESSION_NOT_FOUND', 'INVALID_CURSOR'],
    async answer({ clients, call, param, query }) {
      const { approvals, page } = await clients.sessions.listApprovals(
        { sessionId: param('session_id'), page: pageRequest(query), status: query.status ?? '' },
        call,
      );
      return listOfJson(approvals.map(serializeApproval), page);
    },
  }),

  route({
    method: 'POST',
    path: '/sessions/{session_id}/approvals/{approval_id}',
    operationId: 'decideApproval',
    tag: 'Approvals',
    summary: 'Decide an approval',
    description:
      'The turn continues when all of its approvals are decided. Repeating the same decision returns the first one. Content ' +
      'that does not match the form is refused, and the approval stays open.',
    body: closed({
      decision: ApprovalDecisionSchema,
      reason: optional(text('The reason that the agent is told.', { maxLength: 2_000 })),
      edited_input: optional(AnyObject('The input that replaces the input of the model. Only with `allow`.')),
      content: optional(
        AnyObject(
          'The content of the form, only with `accept`. It goes to the server that asked, and is not returned.',
        ),
      ),
    }),
    example: { decision: 'allow' },
    success: { status: 200, description: 'The decided approval.', data: ApprovalShape },
    errors: [
      'SESSION_NOT_FOUND',
      'APPROVAL_NOT_FOUND',
      'APPROVAL_ALREADY_DECIDED',
      'SESSION_ARCHIVED',
      'SESSION_TERMINATED',
    ],
    async answer({ clients, call, param, body }) {
      const { approval } = await clients.sessions.decideApproval(
        {
          sessionId: param('session_id'),
          approvalId: param('approval_id'),
          decision: body.decision,
          reason: body.reason ?? '',
          editedInputJson: body.edited_input ? JSON.stringify(body.edited_input) : '',
          contentJson: body.content && JSON.stringify(body.content),
        },
        call,
      );
      return okJson(serializeApproval(approval));
    },
  }),
];
