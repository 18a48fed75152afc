import { Type } from 'typebox';
import { mapPointers, refuseField } from '../../lib/errors.ts';
import { listOfJson, okJson } from '../envelope.ts';
import { route } from '../route.ts';
import { closed, optional, pageRequest, paging, text } from '../schemas/common.ts';
import { CONTENT_ERRORS, MESSAGE_BYTES } from '../schemas/content.ts';
import { serializeToolCall, TOOL_CALL_STATUSES, ToolCallShape, toolUseId } from '../schemas/tool-calls.ts';
import { outputPointer, readToolOutput } from '../schemas/tool-output.ts';

export const toolCallRoutes = [
  route({
    method: 'GET',
    path: '/sessions/{session_id}/tool-calls',
    operationId: 'listToolCalls',
    tag: 'Tool calls',
    summary: 'List the tool calls that the client answers',
    description:
      'Returns the calls of client tools and the questions of `ask_user`, newest first. Calls of tools that the service runs ' +
      'are only in the journal.',
    query: closed({
      ...paging,
      status: optional(
        Type.Enum([...TOOL_CALL_STATUSES], { description: 'Only tool calls with this status.' }),
      ),
    }),
    success: { status: 200, description: 'A page of tool calls.', data: ToolCallShape, list: true },
    errors: ['SESSION_NOT_FOUND', 'INVALID_CURSOR'],
    async answer({ clients, call, param, query }) {
      const { toolCalls, page } = await clients.sessions.listToolCalls(
        { sessionId: param('session_id'), page: pageRequest(query), status: query.status ?? '' },
        call,
      );
      return listOfJson(toolCalls.map(serializeToolCall), page);
    },
  }),

  route({
    method: 'POST',
    path: '/sessions/{session_id}/tool-results',
    operationId: 'submitToolResult',
    tag: 'Tool calls',
    summary: 'Submit the result of a tool call',
    description:
      'Answers a call of a client tool or a question of `ask_user`. The turn continues when all of its calls are answered and ' +
      'all of its approvals are decided. Repeating the same result returns the first one; another result fails with ' +
      'TOOL_RESULT_CONFLICT. After expiry, an interrupt or the end of the turn, the request fails with TOOL_CALL_CLOSED. Until ' +
      'the turn has stopped for the call (`turn.blocked`), it fails with SESSION_BUSY.',
    body: closed({
      tool_use_id: toolUseId,
      output: optional(
        Type.Unknown({
          description:
            'The result: any JSON value. A list of content parts with an image or a file is given to the model as such, with the ' +
            'sources of a message, and so is one image or file part with a source, which becomes a list of one part. For `ask_user`, an object with the fields of the answer; one that does not match the ' +
            'form is refused and leaves the question open. Exactly one of `output` and `error` is required.',
        }),
      ),
      error: optional(text('The message of an error, which the model gets instead of a result.')),
    }),
    bodyLimit: MESSAGE_BYTES,
    example: { tool_use_id: 'call_1_1', output: { latitude: 52.52, longitude: 13.41 } },
    success: { status: 200, description: 'The answered tool call.', data: ToolCallShape },
    errors: [
      'SESSION_NOT_FOUND',
      'TOOL_CALL_NOT_FOUND',
      'TOOL_RESULT_CONFLICT',
      'TOOL_CALL_CLOSED',
      ...CONTENT_ERRORS,
      'QUOTA_EXCEEDED',
      'SESSION_BUSY',
    ],
    async answer({ clients, call, param, body }) {
      const { tool_use_id: id, output, error } = body;
      if (output !== undefined && error !== undefined)
        throw refuseField('/error', 'must not be combined with output');
      if (output === undefined && error === undefined)
        throw refuseField('/output', 'is required without error');
      const isError = error !== undefined;
      const { isSinglePart, ...read } = readToolOutput(isError ? error : output, '/output');
      const { toolCall } = await clients.sessions
        .submitToolResult({ sessionId: param('session_id'), toolUseId: id, isError, ...read }, call)
        .catch((failure: unknown) => {
          throw mapPointers(failure, (at) => outputPointer(at, '/output', isSinglePart));
        });
      return okJson(serializeToolCall(toolCall));
    },
  }),
];
