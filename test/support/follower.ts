import { type Frame, readStream } from './stream.ts';

export interface Follower {
  /** Received journal events. */
  events: Frame[];
  /** Number of connections so far. */
  joins: number;
}

const PAUSE_MS = 50;

/**
 * Follows a session as a browser does: when the stream ends or cannot be opened, it reconnects after the last received
 * event. It also disconnects and reconnects after an event for which `drops` returns true. Ends after the event for which
 * `isLast` returns true, or when the signal aborts. Every request has `credentials` among its headers.
 */
export function follow(
  url: string,
  isLast: (event: Frame) => boolean,
  signal: AbortSignal,
  drops: () => boolean = () => false,
  credentials: Record<string, string> = {},
): Follower {
  const follower: Follower = { events: [], joins: 0 };
  void run();
  return follower;

  async function run(): Promise<void> {
    let ended = false;
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      if (ended || signal.aborted) return;
      follower.joins++;
      const last = follower.events.at(-1)?.id;
      const take = (frames: Frame[]) => {
        const frame = frames.at(-1);
        if (frame?.id === undefined) return signal.aborted;
        follower.events.push(frame);
        ended = isLast(frame);
        return ended || drops();
      };
      // Every failure of a stream is handled by reconnecting.
      const position: Record<string, string> = last === undefined ? {} : { 'Last-Event-ID': last };
      await readStream(url, take, { ...credentials, ...position }).catch(() => {});
    }
  }
}
