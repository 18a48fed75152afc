import { type Frame, readStream } from './stream.ts';

export interface Follower {
  /** Events of the journal that have come so far. */
  events: Frame[];
  /** How often it has joined. */
  joins: number;
}

const PAUSE_MS = 50;

/**
 * Follows a session as a browser does: whenever the stream ends or cannot be had, it joins again after the
 * last event that it has seen; it does so, too, behind an event at which it `drops`. Ends with the event that
 * `isLast` says is the last one, or with the signal.
 */
export function follow(
  url: string,
  isLast: (event: Frame) => boolean,
  signal: AbortSignal,
  drops: () => boolean = () => false,
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
      // Whatever ends a stream, the answer to it is the same.
      await readStream(url, take, last === undefined ? {} : { 'Last-Event-ID': last }).catch(() => {});
    }
  }
}
