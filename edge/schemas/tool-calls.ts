import { Type } from 'typebox';
import { CLIENT_CALL_KINDS } from '../../lib/event-types.ts';
import type { ToolCall } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { id, NULL, nullable, serializeTime, serializeTimeOrNull, text, time } from './common.ts';

export const TOOL_CALL_STATUSES = ['pending', 'answered', 'expired', 'cancelled'] as const;

export const toolUseId = text('The id that the model gave the tool call.', { examples: ['call_1_1'] });

export const ToolCallShape = Type.Object(
  {
    tool_use_id: toolUseId,
    session_id: id('ses', 'the session'),
    turn_id: id('trn', 'the turn that waits for the answer'),
    kind: Type.Enum([...CLIENT_CALL_KINDS], {
      description:
        '`tool_result`: the client runs the tool. `input`: a person answers a question of `ask_user`.',
      examples: ['tool_result'],
    }),
    name: text('The name of the tool.', { examples: ['get_location'] }),
    status: Type.Enum([...TOOL_CALL_STATUSES], {
      description: '`cancelled`: the turn was interrupted or ended before the answer.',
    }),
    error: nullable(text('The error message, if the result is an error.'), NULL),
    answered_by: nullable(id('usr', 'the user who answered'), NULL),
    created_at: time('The time at which the turn began to wait.'),
    expires_at: time('The time after which the model gets an error instead of an answer.'),
    answered_at: nullable(time('The time of the answer.'), NULL),
    input: Type.Unknown({
      description:
        'The input of the tool call. For `ask_user`: `{question, schema}`, where `schema` describes the fields of the answer.',
      examples: [{}],
    }),
    output: Type.Unknown({
      description: 'The result; null unless answered without an error.',
      examples: [null],
    }),
  },
  { title: 'ToolCall' },
);

/** A tool call as JSON text. Input and output are inserted as text, so that numbers keep their exact form. */
export function serializeToolCall(call: ToolCall | undefined): string {
  const members = {
    tool_use_id: call?.toolUseId,
    session_id: call?.sessionId,
    turn_id: call?.turnId,
    kind: call?.kind,
    name: call?.name,
    status: call?.status,
    error: call?.isError ? JSON.parse(call.outputJson) : null,
    answered_by: call?.answeredBy || null,
    created_at: serializeTime(call?.createdAt),
    expires_at: serializeTime(call?.expiresAt),
    answered_at: serializeTimeOrNull(call?.answeredAt),
  };
  const input = call?.inputJson || 'null';
  const output = (!call?.isError && call?.outputJson) || 'null';
  return `${JSON.stringify(members).slice(0, -1)},"input":${input},"output":${output}}`;
}
