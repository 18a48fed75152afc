import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import type { Piece } from '../../../edge/ai-stream/chunk-writer.ts';
import type { TurnEvent } from '../../../edge/ai-stream/journal.ts';
import { FROM_THE_BEGINNING, type Place, render } from '../../../edge/ai-stream/render.ts';
import { Rendering } from '../../../edge/ai-stream/rendering.ts';
import type { FollowResponse } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { TURN } from './journal.ts';

/** A journal as a follower gets it, some events at a time, and caught up at the end. */
async function* followed(events: readonly TurnEvent[], atOnce: number): AsyncGenerator<FollowResponse> {
  yield { events: [], seq: 0, caughtUp: false };
  for (let i = 0; i < events.length; i += atOnce) {
    const some = events.slice(i, i + atOnce);
    const texts = some.map((event) => ({ seq: event.seq, type: event.type, json: JSON.stringify(event) }));
    yield { events: texts, seq: some.at(-1)?.seq ?? 0, caughtUp: false };
  }
  yield { events: [], seq: events.at(-1)?.seq ?? 0, caughtUp: true };
}

/** What a stream of the turn holds. */
export async function piecesOf(
  events: readonly TurnEvent[],
  place: Place = FROM_THE_BEGINNING,
  atOnce = 3,
): Promise<Piece[]> {
  const all: Piece[] = [];
  for await (const some of render(followed(events, atOnce), new Rendering(TURN), place)) all.push(...some);
  return all;
}

export const chunksOf = (pieces: readonly Piece[]): UIMessageChunk[] =>
  pieces.flatMap(({ chunks }): readonly UIMessageChunk[] => chunks);

export interface Read {
  message: UIMessage | undefined;
  errors: unknown[];
}

/** Reads chunks with the library's own reader, as the goes-on of a message if there is one. */
export async function read(chunks: readonly UIMessageChunk[], message?: UIMessage): Promise<Read> {
  const errors: unknown[] = [];
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(structuredClone(chunk));
      controller.close();
    },
  });
  const held = message && structuredClone(message);
  let last = held;
  const states = readUIMessageStream({
    stream,
    onError: (error) => errors.push(error),
    ...(held && { message: held }),
  });
  for await (const state of states) last = state;
  return { message: last, errors };
}

/** A message in which texts that follow each other are one: where a reader came back, a text has two parts. */
export function joined(message: UIMessage | undefined): unknown[] {
  const parts: { type: string; text?: string; state?: string }[] = [];
  for (const part of message?.parts ?? []) {
    const last = parts.at(-1);
    if (part.type === 'text' && last?.type === 'text') {
      last.text = (last.text ?? '') + part.text;
      last.state = part.state;
    } else if (part.type !== 'text' || part.text !== '' || part.state === 'streaming')
      parts.push({ ...part });
  }
  return JSON.parse(JSON.stringify(parts));
}
