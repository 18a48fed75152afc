import { noteBufferBytes } from '../../lib/garbage-collection.ts';
import type { Event } from '../../proto/gen/ahs/sessions/v1/sessions.ts';

/**
 * The bytes of long chunks of events. Streams that send the same events share them, so that their memory does not depend on
 * the number of streams. Bytes are kept as long as a stream has yet to send them.
 */
export class SharedFrames {
  readonly #frames = new Map<string, WeakRef<Buffer>>();
  readonly #released = new FinalizationRegistry<string>((key) => {
    // The same frames may have been made again since.
    if (!this.#frames.get(key)?.deref()) this.#frames.delete(key);
  });

  /** Returns the frames of these events. An event never changes, so its session and seq identify its bytes. */
  bytesOf(sessionId: string, events: readonly Event[]): Buffer {
    const first = events.at(0)?.seq ?? 0;
    const last = events.at(-1)?.seq ?? 0;
    // A filter may leave out events between the first and the last.
    if (last - first + 1 !== events.length) return encodeFrames(events);
    const key = `${sessionId}/${first}-${last}`;
    const shared = this.#frames.get(key)?.deref();
    if (shared) return shared;
    const frames = encodeFrames(events);
    this.#frames.set(key, new WeakRef(frames));
    this.#released.register(frames, key);
    return frames;
  }
}

function encodeFrames(events: readonly Event[]): Buffer {
  const bytes = Buffer.from(framesText(events));
  noteBufferBytes(bytes.length);
  return bytes;
}

/** The events as frames of Server-Sent Events. */
export function framesText(events: readonly Event[]): string {
  return events.map(({ seq, type, json }) => `id: ${seq}\nevent: ${type}\ndata: ${json}\n\n`).join('');
}
