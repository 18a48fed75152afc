import type { UIMessage, UIMessageChunk } from 'ai';
import type { RenderedEvent } from '../../../edge/ai-stream/chunk-writer.ts';
import type { TurnEvent } from '../../../edge/ai-stream/journal.ts';
import { FROM_THE_BEGINNING, render, type StreamPosition } from '../../../edge/ai-stream/render.ts';
import type { SdkVersion } from '../../../edge/ai-stream/schemas.ts';
import { createTurnFold } from '../../../edge/ai-stream/sdk-version.ts';
import type { FollowResponse } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { TURN } from './journal-events.ts';
import { SDKS } from './sdk-versions.ts';

/** The folder of the parts of the session. */
export const PARTS_URL = '/api/v1/sessions/ses_1/parts';

/** The seq of the message of the turn. */
export const MESSAGE_SEQ = 1_000_000;

/** The responses of Follow for a journal: `atOnce` events per chunk, caught up at the end. */
async function* followed(events: readonly TurnEvent[], atOnce: number): AsyncGenerator<FollowResponse> {
  yield { events: [], seq: 0, caughtUp: false };
  for (let i = 0; i < events.length; i += atOnce) {
    const some = events.slice(i, i + atOnce);
    const texts = some.map((event) => ({ seq: event.seq, type: event.type, json: JSON.stringify(event) }));
    yield { events: texts, seq: some.at(-1)?.seq ?? 0, caughtUp: false };
  }
  yield { events: [], seq: events.at(-1)?.seq ?? 0, caughtUp: true };
}

/** Renders a turn completely. */
export async function renderAll(
  events: readonly TurnEvent[],
  place: StreamPosition = FROM_THE_BEGINNING,
  atOnce = 3,
  version: SdkVersion = '7',
): Promise<RenderedEvent[]> {
  const all: RenderedEvent[] = [];
  const fold = createTurnFold({ turnId: TURN, messageSeq: MESSAGE_SEQ }, version, PARTS_URL);
  for await (const some of render(followed(events, atOnce), fold, place)) all.push(...some);
  return all;
}

export const chunksOf = (pieces: readonly RenderedEvent[]): UIMessageChunk[] =>
  pieces.flatMap(({ chunks }): readonly UIMessageChunk[] => chunks);

interface ReadMessage {
  message: UIMessage | undefined;
  errors: unknown[];
}

/** Reads chunks with AI SDK's reader, optionally as the continuation of a message. */
export async function read(
  chunks: readonly UIMessageChunk[],
  message?: UIMessage,
  version: SdkVersion = '7',
): Promise<ReadMessage> {
  const errors: unknown[] = [];
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(structuredClone(chunk));
      controller.close();
    },
  });
  const before = message && structuredClone(message);
  let last = before;
  const states = SDKS[version].readUIMessageStream({
    stream,
    onError: (error) => errors.push(error),
    ...(before && { message: before }),
  });
  for await (const state of states) last = state;
  return { message: last, errors };
}

/** Joins adjacent text parts, because a reconnection splits a text into two parts. */
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
