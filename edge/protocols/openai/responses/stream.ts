import type { FastifyReply, FastifyRequest } from 'fastify';
import { refuseField } from '../../../../lib/errors.ts';
import { callOf } from '../../../authentication/authenticator.ts';
import type { RouteContext } from '../../../route.ts';
import type { AnswerFold } from '../answer-fold.ts';
import { readAnswer } from '../read-answer.ts';
import type { StartedTurn } from '../start-turn.ts';
import { ObjectStream } from '../stream-writer.ts';
import { sentenceAfter } from '../waiting.ts';
import type { ResponseHead } from './response-object.ts';
import { firstEvents, lastEvents, type StreamEvent, textEvents } from './stream-events.ts';

interface StreamedResponse {
  started: StartedTurn;
  head: ResponseHead;
  fold: AnswerFold;
  /** Keeps the turn running when the stream ends in another way than by its client. */
  keepTurn: () => void;
  /** Events up to this number are left out. */
  startingAfter?: number | undefined;
}

/** Streams a response from its beginning, or after an event that the client has. */
export async function streamResponse(
  context: RouteContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { keepTurn, startingAfter = -1, ...streamed }: StreamedResponse,
): Promise<FastifyReply> {
  const { liveStreams, stallMonitor, log, protocolMetrics } = context;
  const batches = eventsOf(context, request, streamed);
  // The first batch has all events so far, so that a refusal can still be a response.
  const first = await batches.next();
  const newest = first.value?.at(-1)?.sequence_number ?? 0;
  if (startingAfter > newest) {
    await batches.return(undefined);
    throw refuseField('/starting_after', `must be at most ${newest}, the number of the newest event`);
  }
  reply.hijack();
  const stream = new ObjectStream(reply.raw, { ...reply.getHeaders() }, stallMonitor, keepTurn);
  liveStreams.add(stream);
  const endStream = protocolMetrics.beginStream('openai');
  try {
    for (let batch = first; !batch.done; batch = await batches.next()) {
      for (const event of batch.value)
        if (event.sequence_number > startingAfter) stream.write(event, event.type);
      await stream.flushed();
    }
    stream.end();
  } catch (error) {
    if (!request.raw.destroyed) log.warn({ err: error }, 'a stream of a response ended before its answer');
    stream.drain();
  } finally {
    endStream();
    liveStreams.delete(stream);
  }
  return reply;
}

/** The events of a response. The first batch holds those that have happened. */
async function* eventsOf(
  context: RouteContext,
  request: FastifyRequest,
  { started, head, fold }: Pick<StreamedResponse, 'started' | 'head' | 'fold'>,
): AsyncGenerator<StreamEvent[], undefined> {
  const call = callOf(request);
  let events = firstEvents(head, fold);
  for await (const { texts, caughtUp } of readAnswer(context.clients, call, started, fold)) {
    events.push(...texts.flatMap((text) => textEvents(head, text)));
    // The events of the end belong to the batch of the newest text.
    if (!caughtUp || fold.end || fold.isWaiting || events.length === 0) continue;
    yield events;
    events = [];
  }
  const sentence = await sentenceAfter(context, call, started, fold);
  yield [...events, ...lastEvents(head, fold, sentence)];
  return undefined;
}
