import { type Clock, wait } from '../../lib/clock.ts';
import { Refusal } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { Metrics } from '../../lib/metrics.ts';
import type { ContentReader } from './content-reader.ts';
import type { GarbageStore } from './store/garbage.ts';

interface ScrubberContext {
  garbage: GarbageStore;
  reader: ContentReader;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  /** Period in which every content is read once. */
  everyMs: number;
  /** Maximum read rate; 0 turns the scrubber off. */
  bytesPerSecond: number;
}

const IDLE_MS = 60_000;
/** A content that could not be read is due again after this time, so that it does not keep the others from being read. */
const RETRY_MS = 60 * 60 * 1_000;
/** Minimum pause after each content, because the look-up of even a small one has a cost. */
const MIN_PAUSE_MS = 10;

/** Reads all stored contents periodically at a limited rate. The reader reports the damaged ones. */
export function startScrubber(context: ScrubberContext) {
  const { garbage, reader, clock, log, metrics, everyMs, bytesPerSecond } = context;
  const stopping = new AbortController();
  const { signal } = stopping;
  const family = {
    name: 'ahs_files_scrubbed_bytes_total',
    help: 'Stored bytes that were read to check them.',
  };
  const scrubbed = metrics.counter(family).labels();
  let failing = false;

  async function run(): Promise<void> {
    while (bytesPerSecond > 0 && !signal.aborted) {
      const pause = await scrub().catch((error: unknown) => {
        if (!failing && !signal.aborted)
          log.warn({ err: error }, 'stored bytes cannot be verified; the scrubber will retry');
        failing = true;
        return IDLE_MS;
      });
      await wait(clock, pause, signal);
    }
  }

  /** Reads one content. Returns the pause before the next one, in milliseconds. */
  async function scrub(): Promise<number> {
    const now = clock.now();
    const content = await garbage.nextToScrub(new Date(now.getTime() - everyMs), now);
    if (!content) return IDLE_MS;
    try {
      for await (const piece of reader.read(content, 0, content.size, signal)) scrubbed.inc(piece.length);
      failing = false;
    } catch (error) {
      const isReported = error instanceof Refusal && error.code === 'CONTENT_DAMAGED';
      if (!isReported) {
        await garbage.scrubAgain(content.contentId, new Date(now.getTime() - everyMs + RETRY_MS));
        throw error;
      }
    }
    return Math.max(MIN_PAUSE_MS, (content.size / bytesPerSecond) * 1_000);
  }

  const running = run();
  return {
    async stop(): Promise<void> {
      stopping.abort();
      await running;
    },
  };
}
