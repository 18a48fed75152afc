import { Type } from 'typebox';
import { CLIENT_CALL_KINDS } from '../../../lib/event-types.ts';
import type { ToolCall, Turn } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { serializeTime } from '../../schemas/common.ts';
import type { McpOperation } from './operation.ts';

const MAX_PENDING = 100;

/** A question to a person, or a call of a tool that another client runs. */
export const PendingQuestion = Type.Object({
  tool_use_id: Type.String(),
  kind: Type.Enum([...CLIENT_CALL_KINDS], {
    description: '`input`: a question to a person. `tool_result`: a tool that another client runs.',
  }),
  name: Type.String(),
  input: Type.Unknown({ description: 'For `input`: the question and the schema of its answer.' }),
  expires_at: Type.String(),
});

export async function pendingQuestions(
  { context, call }: Pick<McpOperation, 'context' | 'call'>,
  turn: Turn,
) {
  const { toolCalls } = await context.clients.sessions.listToolCalls(
    { sessionId: turn.sessionId, page: { limit: MAX_PENDING, cursor: '' }, status: 'pending' },
    call,
  );
  return toolCalls.filter(({ turnId }) => turnId === turn.turnId).map(serializeQuestion);
}

function serializeQuestion({ toolUseId, kind, name, inputJson, expiresAt }: ToolCall) {
  return {
    ...{ tool_use_id: toolUseId, kind, name },
    input: JSON.parse(inputJson || 'null'),
    expires_at: serializeTime(expiresAt),
  };
}
