import { Type } from 'typebox';
import { APPROVAL_KINDS } from '../../../lib/event-types.ts';
import type { Approval, Turn } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { nullable, serializeTime } from '../../schemas/common.ts';
import type { McpOperation } from './operation.ts';

const MAX_PENDING = 100;

/** An approval that a turn waits for. */
export const PendingApproval = Type.Object({
  approval_id: Type.String(),
  kind: Type.Enum([...APPROVAL_KINDS], {
    description:
      '`tool`: whether a tool may be called, which `answer_approval` decides. Other kinds are decided in the console.',
  }),
  tool_name: nullable(Type.String()),
  input: Type.Unknown({ description: 'The input of the tool call, as the model of the agent wrote it.' }),
  expires_at: Type.String(),
});

export async function pendingApprovals(
  { context, call }: Pick<McpOperation, 'context' | 'call'>,
  turn: Turn,
) {
  const { approvals } = await context.clients.sessions.listApprovals(
    { sessionId: turn.sessionId, page: { limit: MAX_PENDING, cursor: '' }, status: 'pending' },
    call,
  );
  return approvals.filter(({ turnId }) => turnId === turn.turnId).map(serializePending);
}

function serializePending({ approvalId, kind, toolName, inputJson, expiresAt }: Approval) {
  return {
    approval_id: approvalId,
    kind,
    tool_name: toolName || null,
    input: JSON.parse(inputJson || 'null'),
    expires_at: serializeTime(expiresAt),
  };
}
