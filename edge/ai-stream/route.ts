import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CallOptions } from '../../lib/grpc/contract.ts';
import { callOf } from '../authentication/authenticator.ts';
import { idempotencyKey, lastEventId } from '../input/headers.ts';
import { checkPath } from '../input/path.ts';
import type { RawQuery } from '../input/query.ts';
import { receiveMessage } from '../register-route.ts';
import { type RawResponse, type RouteContext, route } from '../route.ts';
import { replayed } from '../routes/replayed.ts';
import { closed } from '../schemas/common.ts';
import { CONTENT_ERRORS, MESSAGE_BYTES } from '../schemas/content.ts';
import { afterSeq } from '../schemas/events.ts';
import type { LiveStreams } from '../streaming/live-streams.ts';
import { AI_STREAM_HEADERS, ChunkWriter, type RenderedEvent } from './chunk-writer.ts';
import { interruptOnDisconnect, onDisconnect } from './interrupt-on-disconnect.ts';
import { RENDERED_TYPES } from './journal.ts';
import { render } from './render.ts';
import { AiRequest, readTurnRequest } from './request.ts';
import { createTurnFold, type SdkVersion, sdkVersion, sdkVersionOf } from './sdk-version.ts';
import { partsUrlOf } from './stored-parts.ts';
import { TurnFinder, type TurnStream } from './turn-finder.ts';

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

const STREAM_QUERY = { ai_sdk: sdkVersion, on_disconnect: onDisconnect };

/** How a client wants its stream. */
interface StreamOptions {
  version: SdkVersion;
  interrupts: boolean;
}

function streamOptions(
  { raw }: FastifyRequest,
  query: { ai_sdk?: SdkVersion; on_disconnect?: 'continue' | 'interrupt' },
): StreamOptions {
  return { version: sdkVersionOf(raw, query), interrupts: query.on_disconnect === 'interrupt' };
}

const params = (request: FastifyRequest) => request.params as { session_id: string };

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
    headers: ['Last-Event-ID', 'x-ahs-ai-sdk'],
    responses: { 200: CHUNK_STREAM, 204: { description: 'No turn is in progress.' } },
    errors: ['INVALID_CURSOR', 'SESSION_NOT_FOUND'],
    config: { longLived: true },
    createHandler(context, readQuery) {
      const { clients } = context;
      return async (request, reply) => {
        const call = callOf(request);
        const query = readQuery(request.query as RawQuery);
        const options = streamOptions(request, query);
        const stream = (turn: TurnStream) => streamTurn(context, turn, options, request, reply, call);
        checkPath(request.params as Record<string, string>, ['SESSION_NOT_FOUND']);
        const seq = lastEventId(request.raw) ?? query.after_seq ?? 0;
        const turns = new TurnFinder(clients, params(request).session_id, call);
        const interrupted = seq === 0 ? undefined : await turns.at(seq);
        if (interrupted && (await stream(interrupted))) return reply;
        const current = await turns.current();
        // The turn of that event has ended; a turn that began after it is new to the client.
        if (current && current.from > seq && (await stream(current))) return reply;
        return reply.code(204).send();
      };
    },
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
    headers: ['Idempotency-Key', 'x-ahs-ai-sdk'],
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
    createHandler(context, readQuery) {
      return async (request, reply) => {
        const call = callOf(request);
        const { value, inlineData } = await receiveMessage(request.raw, MESSAGE_BYTES);
        const turnRequest = readTurnRequest(value, params(request).session_id, inlineData);
        const options = streamOptions(request, readQuery(request.query as RawQuery));
        checkPath(params(request));
        const turns = new TurnFinder(context.clients, params(request).session_id, call);
        const stream = await turns.start(turnRequest, idempotencyKey(request.raw));
        reply.headers(replayed(stream.replayed ?? false));
        if (await streamTurn(context, stream, options, request, reply, call)) return reply;
        return reply.code(204).send();
      };
    },
  }),

  resumeRoute(AI_STREAM_PATH, 'resumeTurnStream', 'Resume the stream of the current turn for AI SDK'),
  resumeRoute(
    `${AI_STREAM_PATH}/{chat_id}/stream`,
    'reconnectTurnStream',
    "Resume the stream of the current turn at the default path of AI SDK's transport",
  ),
];

/** Streams a turn. Resolves to false, without a response, when the turn has no chunks to send. */
async function streamTurn(
  context: RouteContext,
  { turnId, from, position }: TurnStream,
  { version, interrupts }: StreamOptions,
  request: FastifyRequest,
  reply: FastifyReply,
  call: CallOptions,
): Promise<boolean> {
  const { clients, liveStreams, stallMonitor } = context;
  const { session_id: sessionId } = params(request);
  const keepTurn = interrupts
    ? interruptOnDisconnect(context, reply.raw, { sessionId, turnId }, call)
    : () => {};
  const journal = clients.sessions.follow(
    { sessionId, afterSeq: from, fromNow: false, types: RENDERED_TYPES, untilCaughtUp: false },
    call,
  );
  const isOtherOrigin = reply.hasHeader('access-control-allow-origin');
  const partsUrl = partsUrlOf(sessionId, isOtherOrigin ? request.headers.host : undefined);
  const batches = render(journal, createTurnFold({ turnId, messageSeq: from }, version, partsUrl), position);
  // Until the first batch arrives, the response can still be an error or 204.
  const first = await batches.next().catch((error: unknown) => {
    if (!call.signal?.aborted) keepTurn();
    throw error;
  });
  if (first.done) {
    keepTurn();
    return false;
  }
  if (request.method === 'HEAD') {
    keepTurn();
    await batches.return(undefined);
    await reply.headers(AI_STREAM_HEADERS).send();
    return true;
  }
  reply.hijack();
  const writer = new ChunkWriter(reply.raw, { ...reply.getHeaders() }, stallMonitor, keepTurn);
  // Not awaited, so that an idle stream does not retain its request.
  void copyChunks(batches, writer, first.value, liveStreams);
  return true;
}

/** Never rejects. */
async function copyChunks(
  batches: AsyncGenerator<RenderedEvent[]>,
  writer: ChunkWriter,
  first: RenderedEvent[],
  liveStreams: LiveStreams,
): Promise<void> {
  liveStreams.add(writer);
  try {
    for (let batch = first; ; ) {
      writer.write(batch);
      await writer.flushed();
      const next = await batches.next();
      if (next.done) break;
      batch = next.value;
    }
    writer.end();
  } catch {
    // The status has been sent, so a failure can only tell the client to reconnect.
    writer.drain();
  } finally {
    liveStreams.delete(writer);
  }
}
