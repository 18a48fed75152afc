import { type Clock, wait } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import type { RunQueue } from '../store/run-queue.ts';
import type { Fire } from './fire.ts';
import type { Starter } from './starter.ts';

/** The longest sleep, so that the work of a replica that was killed is found by another one. */
const MAX_SLEEP_MS = 1_000;

interface TickerContext {
  queue: Pick<RunQueue, 'next'>;
  fire: Pick<Fire, 'fireDue'>;
  starter: Pick<Starter, 'request'>;
  clock: Clock;
  log: Log;
}

export interface Ticker {
  /** Looks at the next times now: a schedule has changed, or a run was queued. */
  wake(): void;
  /** Whether a run waited for an earlier one at the last look. */
  hasWaiting(): boolean;
  /** Resolves when the current work has ended. */
  stop(): Promise<void>;
}

/**
 * Fires due schedules and requests the start of queued runs. It sleeps until the next of these times, at most one second,
 * and reads them with one statement. Every replica has a ticker; row locks keep them from doing the same work.
 */
export function startTicker({ queue, fire, starter, clock, log }: TickerContext): Ticker {
  const stopping = new AbortController();
  let sleeping = new AbortController();
  let isWoken = false;
  let isFailing = false;
  let isWaiting = false;

  /** Returns the milliseconds until the next work. */
  async function tick(): Promise<number> {
    const { dueAt, readyAt, hasWaiting } = await queue.next();
    isWaiting = hasWaiting;
    const now = clock.now().getTime();
    if (readyAt && readyAt.getTime() <= now) starter.request();
    if (dueAt && dueAt.getTime() <= now && (await fire.fireDue()) > 0) {
      starter.request();
      return 0;
    }
    const times = [dueAt, readyAt].flatMap((time) => (time && time.getTime() > now ? [time.getTime()] : []));
    return Math.min(MAX_SLEEP_MS, ...times.map((time) => time - now));
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      let sleepMs = MAX_SLEEP_MS;
      try {
        sleepMs = await tick();
        isFailing = false;
      } catch (error) {
        if (!isFailing && !stopping.signal.aborted)
          log.warn({ err: error }, 'due schedules could not be read; the ticker tries again every second');
        isFailing = true;
      }
      if (isWoken) sleepMs = 0;
      isWoken = false;
      sleeping = new AbortController();
      if (sleepMs > 0) await wait(clock, sleepMs, AbortSignal.any([sleeping.signal, stopping.signal]));
    }
  }

  const running = run();
  return {
    wake() {
      isWoken = true;
      sleeping.abort();
    },
    hasWaiting: () => isWaiting,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
