import { type Clock, wait } from '../../lib/clock.ts';
import { Refusal } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { Metrics } from '../../lib/metrics.ts';
import type { Reader } from './reader.ts';
import type { Garbage } from './store/garbage.ts';

export interface ScrubberContext {
  garbage: Garbage;
  reader: Reader;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  /** How often everything is read. */
  everyMs: number;
  /** How fast at most; 0 for not at all. */
  bytesPerSecond: number;
}

const IDLE_MS = 60_000;
/** However small it is, finding it costs something. */
const LEAST_MS = 10;

/** Reads all contents again and again, at a pace that nobody notices. Whatever is damaged, the reader reports. */
export function startScrubber(context: ScrubberContext) {
  const { garbage, reader, clock, log, metrics, everyMs, bytesPerSecond } = context;
  const leaving = new AbortController();
  const { signal } = leaving;
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
          log.warn({ err: error }, 'stored bytes cannot be checked at the moment');
        failing = true;
        return IDLE_MS;
      });
      await wait(clock, pause, signal);
    }
  }

  /** Returns how long to rest. */
  async function scrub(): Promise<number> {
    const now = clock.now();
    const content = await garbage.toScrub(new Date(now.getTime() - everyMs), now);
    if (!content) return IDLE_MS;
    try {
      for await (const piece of reader.read(content, 0, content.size, signal)) scrubbed.inc(piece.length);
      failing = false;
    } catch (error) {
      const isReported = error instanceof Refusal && error.code === 'CONTENT_DAMAGED';
      if (!isReported) {
        await garbage.notScrubbed(content.contentId);
        throw error;
      }
    }
    return Math.max(LEAST_MS, (content.size / bytesPerSecond) * 1_000);
  }

  const running = run();
  return {
    async stop(): Promise<void> {
      leaving.abort();
      await running;
    },
  };
}
