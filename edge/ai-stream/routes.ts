import { Type } from 'typebox';
import { once } from '../../lib/once.ts';
import { list } from '../envelope.ts';
import { type RawResponse, route } from '../route.ts';
import { AnyObject, closed, optional, text } from '../schemas/common.ts';
import { CONTENT_ERRORS } from '../schemas/content.ts';
import { afterSeq } from '../schemas/events.ts';
import { AiRequest, onDisconnect, SDK_VERSION_HEADER, sdkVersion } from './schemas.ts';

const loadServing = once(() => import('./serve.ts'));
const loadMessages = once(() => import('./messages.ts'));

const AI_STREAM_PATH = '/sessions/{session_id}/ai-stream';
const CHUNK_STREAM: RawResponse = {
  description:
    'The stream. Each `data` line is a chunk, the last one is `[DONE]`; `id` is the seq of the event that the chunk completes.',
  headers: ['x-vercel-ai-ui-message-stream', 'X-Accel-Buffering'],
  content: {
    'text/event-stream': {
      schema: {
        type: 'object',
        required: ['type'],
        properties: { type: { type: 'string' } },
        additionalProperties: true,
      },
      example: { type: 'text-delta', id: '1', delta: 'Hello!' },
    },
  },
};

const UiMessageShape = Type.Object(
  {
    id: text('The id of the turn for an answer, and of the event for a message of a user.'),
    role: Type.Enum(['user', 'assistant']),
    parts: Type.Array(AnyObject('A part, as AI SDK defines it.')),
  },
  {
    title: 'UIMessage',
    examples: [
      { id: 'evt_01KAK3V9Q6W1X2Y3Z4A5B6C7D8', role: 'user', parts: [{ type: 'text', text: 'Hello!' }] },
    ],
  },
);

const HistoryQuery = closed({
  ai_sdk: sdkVersion,
  cursor: optional(text('`next_cursor` of the page with the newer messages.', { maxLength: 100 })),
});

const STREAM_QUERY = { ai_sdk: sdkVersion, on_disconnect: onDisconnect };

const resumeRoute = (path: string, operationId: string, summary: string) =>
  route.raw({
    method: 'GET',
    path,
    operationId,
    tag: 'Events',
    summary,
    description:
      'Starts at the beginning of the turn. With `after_seq` or `Last-Event-ID`, the stream continues after that event of its ' +
      'turn and first repeats the start of every part that is still open.',
    query: closed({ after_seq: afterSeq, ...STREAM_QUERY }),
    headers: ['Last-Event-ID', SDK_VERSION_HEADER],
    responses: { 200: CHUNK_STREAM, 204: { description: 'No turn is in progress.' } },
    errors: ['INVALID_CURSOR', 'SESSION_NOT_FOUND'],
    config: { longLived: true },
    createHandler: (context, readQuery) => async (request, reply) =>
      (await loadServing()).resumeTurn(context, readQuery)(request, reply),
  });

/** Turns as UI Message Streams of AI SDK, rendered from the journal. */
export const aiStreamRoutes = [
  route.raw({
    method: 'POST',
    path: AI_STREAM_PATH,
    operationId: 'streamTurn',
    tag: 'Events',
    summary: 'Send a message and stream the turn to AI SDK',
    description:
      "An AI SDK UI Message Stream that `useChat` reads. The body is a message, or the request of AI SDK's default transport: " +
      'its last user message is sent, or the approval responses in its last assistant message are decided and the outputs of ' +
      'client tools in it are submitted, or the last answer is regenerated. The stream contains one turn and ends with the ' +
      'turn, or when the turn waits for an approval, a tool output or an answer. With `busy_policy: steer`, the stream of a ' +
      'message that is delivered into a running turn shows what that turn writes from then on. Parts of type `data-*` are ignored. Overrides ' +
      'hold for messages and regenerated answers; beside answers to a turn they have no effect.',
    query: closed(STREAM_QUERY),
    headers: ['Idempotency-Key', SDK_VERSION_HEADER],
    body: AiRequest,
    example: { content: 'And then?' },
    responses: { 200: CHUNK_STREAM },
    errors: [
      'SESSION_NOT_FOUND',
      'APPROVAL_NOT_FOUND',
      'APPROVAL_ALREADY_DECIDED',
      'TOOL_CALL_NOT_FOUND',
      'TOOL_RESULT_CONFLICT',
      'TOOL_CALL_CLOSED',
      ...CONTENT_ERRORS,
      'PART_NOT_FOUND',
      'OVERRIDE_NOT_ALLOWED',
      'TURN_NOT_FOUND',
      'TURN_NOT_LAST',
      'SESSION_BUSY',
      'QUOTA_EXCEEDED',
      'SESSION_ARCHIVED',
      'SESSION_TERMINATED',
    ],
    config: { longLived: true },
    createHandler: (context, readQuery) => async (request, reply) =>
      (await loadServing()).serveTurn(context, readQuery)(request, reply),
  }),

  resumeRoute(AI_STREAM_PATH, 'resumeTurnStream', 'Resume the stream of the current turn for AI SDK'),
  resumeRoute(
    `${AI_STREAM_PATH}/{chat_id}/stream`,
    'reconnectTurnStream',
    "Resume the stream of the current turn at the default path of AI SDK's transport",
  ),
];

/** The messages of AI SDK, built from the journal. */
export const aiMessageRoutes = [
  route({
    method: 'GET',
    path: '/sessions/{session_id}/ai-messages',
    operationId: 'listAiMessages',
    tag: 'Events',
    summary: 'List the messages of a session for AI SDK',
    description:
      'Returns the chat as `UIMessage[]`, oldest first, for the `messages` of `useChat`. The answers are those of ' +
      '`ai-stream`, the answer of an unfinished turn included as far as it is written. Removed turns and replaced answers are ' +
      'left out. A page is the whole chat, or its newest messages if the events of the chat exceed about 16 MiB; ' +
      '`next_cursor` then continues with older messages.',
    query: HistoryQuery,
    headers: [SDK_VERSION_HEADER],
    success: { status: 200, description: 'The newest messages.', data: UiMessageShape, list: true },
    errors: ['SESSION_NOT_FOUND', 'INVALID_CURSOR'],
    answer: async (exchange) => {
      const { messages, nextCursor } = await (await loadMessages()).readMessages(exchange);
      return list(messages, { nextCursor });
    },
  }),
];
