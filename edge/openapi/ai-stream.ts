import { AiRequest } from '../ai-stream/request.ts';
import { AI_RECONNECT_PATH, AI_STREAM_PATH, AiStreamQuery } from '../ai-stream/route.ts';
import { type Components, collect } from './components.ts';
import { errorResponses, impliedErrors } from './errors.ts';
import type { Operation } from './operation.ts';
import { headerParameters, pathParameters, queryParameters } from './parameters.ts';

const CHUNKS = [
  { type: 'start', messageId: 'trn_01KAK3V9Q6W1X2Y3Z4A5B6C7D8' },
  { type: 'start-step' },
  { type: 'text-start', id: '1' },
  { type: 'text-delta', id: '1', delta: 'Hello!' },
  { type: 'text-end', id: '1' },
  { type: 'finish-step' },
  { type: 'finish', finishReason: 'stop' },
];
const CHUNK_FRAMES = `${CHUNKS.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`;

const CHUNK_STREAM = {
  description:
    'The stream. Each `data` line is a chunk; `id` is the seq of the event that the chunk completes.',
  headers: {
    'x-vercel-ai-ui-message-stream': { description: 'The version of the stream.', schema: { const: 'v1' } },
  },
  content: {
    'text/event-stream': {
      schema: { type: 'object', required: ['type'], properties: { type: { type: 'string' } } },
      example: CHUNK_FRAMES,
    },
  },
};

const NOTHING = { description: 'No turn is under way.' };

/** A turn as a stream for AI SDK, begun and joined. */
export const aiStreamOperations = (components: Components): Operation[] => [
  askOperation(components),
  resumeOperation(
    AI_STREAM_PATH,
    'resumeTurnStream',
    'Stream the turn that is under way to AI SDK',
    components,
  ),
  resumeOperation(
    AI_RECONNECT_PATH,
    'reconnectTurnStream',
    'The same, where AI SDK looks for it',
    components,
  ),
];

function askOperation(components: Components): Operation {
  const headers = ['Idempotency-Key'] as const;
  return [
    AI_STREAM_PATH,
    'POST',
    {
      operationId: 'streamTurn',
      tags: ['Events'],
      summary: 'Send a message and stream the turn to AI SDK',
      description:
        'An AI SDK UI Message Stream: `useChat` takes it as it is. The body is a message, or what the default transport of AI ' +
        'SDK sends: the last message of the user is sent, or the answers to approvals in the last message of the assistant ' +
        'are decided. The stream is one turn, up to its end or to where it waits for an approval. Who leaves it does not stop ' +
        'the turn.',
      parameters: [...pathParameters(AI_STREAM_PATH), ...headerParameters(headers)],
      requestBody: {
        required: true,
        content: {
          'application/json': { schema: collect(AiRequest, components), example: { content: 'And then?' } },
        },
      },
      responses: {
        200: CHUNK_STREAM,
        ...errorResponses([
          ...impliedErrors({ path: AI_STREAM_PATH, query: {}, body: AiRequest, headers }),
          'SESSION_NOT_FOUND',
          'APPROVAL_NOT_FOUND',
          'APPROVAL_ALREADY_DECIDED',
          'SESSION_BUSY',
          'QUOTA_EXCEEDED',
          'SESSION_ARCHIVED',
          'SESSION_TERMINATED',
        ]),
      },
    },
  ];
}

function resumeOperation(
  path: string,
  operationId: string,
  summary: string,
  components: Components,
): Operation {
  return [
    path,
    'GET',
    {
      operationId,
      tags: ['Events'],
      summary,
      description:
        'From its beginning; with `after_seq` or Last-Event-ID what comes after that event of its turn, where what is still ' +
        'open is opened again.',
      parameters: [
        ...pathParameters(path),
        ...queryParameters(AiStreamQuery, components),
        ...headerParameters(['Last-Event-ID']),
      ],
      responses: {
        200: CHUNK_STREAM,
        204: NOTHING,
        ...errorResponses([
          ...impliedErrors({ path, query: AiStreamQuery }),
          'INVALID_CURSOR',
          'SESSION_NOT_FOUND',
        ]),
      },
    },
  ];
}
