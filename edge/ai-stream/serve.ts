import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CallOptions } from '../../lib/grpc/contract.ts';
import { callOf } from '../authentication/authenticator.ts';
import { idempotencyKey, lastEventId } from '../input/headers.ts';
import { checkPath } from '../input/path.ts';
import type { RawQuery } from '../input/query.ts';
import { receiveMessage } from '../register-route.ts';
import type { RawHandler, RouteContext } from '../route.ts';
import { replayed } from '../routes/replayed.ts';
import { MESSAGE_BYTES } from '../schemas/content.ts';
import type { LiveStreams } from '../streaming/live-streams.ts';
import { AI_STREAM_HEADERS, ChunkWriter, type RenderedEvent } from './chunk-writer.ts';
import { interruptOnDisconnect } from './interrupt-on-disconnect.ts';
import { RENDERED_TYPES } from './journal.ts';
import { render } from './render.ts';
import { readTurnRequest } from './request.ts';
import type { SdkVersion } from './schemas.ts';
import { createTurnFold, sdkVersionOf } from './sdk-version.ts';
import { partsUrlOf } from './stored-parts.ts';
import { TurnFinder, type TurnStream } from './turn-finder.ts';

interface StreamQuery {
  ai_sdk?: SdkVersion;
  on_disconnect?: 'continue' | 'interrupt';
  after_seq?: number;
}

/** How a client wants its stream. */
interface StreamOptions {
  version: SdkVersion;
  interrupts: boolean;
}

function streamOptions({ raw }: FastifyRequest, query: StreamQuery): StreamOptions {
  return { version: sdkVersionOf(raw, query), interrupts: query.on_disconnect === 'interrupt' };
}

const params = (request: FastifyRequest) => request.params as { session_id: string };

/** Sends the message or the answers of a request, and streams the turn. */
export function serveTurn(context: RouteContext, readQuery: (raw: RawQuery) => StreamQuery): RawHandler {
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
}

/** Streams the turn that the client has begun to read, or the current one. */
export function resumeTurn(context: RouteContext, readQuery: (raw: RawQuery) => StreamQuery): RawHandler {
  return async (request, reply) => {
    const call = callOf(request);
    const query = readQuery(request.query as RawQuery);
    const options = streamOptions(request, query);
    const stream = (turn: TurnStream) => streamTurn(context, turn, options, request, reply, call);
    checkPath(request.params as Record<string, string>, ['SESSION_NOT_FOUND']);
    const seq = lastEventId(request.raw) ?? query.after_seq ?? 0;
    const turns = new TurnFinder(context.clients, params(request).session_id, call);
    const interrupted = seq === 0 ? undefined : await turns.at(seq);
    if (interrupted && (await stream(interrupted))) return reply;
    const current = await turns.current();
    // The turn of that event has ended; a turn that began after it is new to the client.
    if (current && current.from > seq && (await stream(current))) return reply;
    return reply.code(204).send();
  };
}

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
