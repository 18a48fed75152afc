import type { Clock } from './clock.ts';

export interface RoundsOptions {
  clock: Clock;
  /** From the end of one round to the beginning of the next, and before the first one. */
  everyMs: number;
  /** The signal aborts when nothing more is wanted. */
  work: (signal: AbortSignal) => Promise<void>;
  /** Told of the first failure after a success: once for an outage, however long it lasts. */
  onFailure: (error: unknown) => void;
}

/** Does the same again and again, never twice at a time. `stop` resolves when the round under way has ended. */
export function startRounds({ clock, everyMs, work, onFailure }: RoundsOptions) {
  const leaving = new AbortController();
  const { signal } = leaving;
  let failing = false;
  let running: Promise<void> = Promise.resolve();
  let cancel = clock.after(everyMs, begin);

  function begin(): void {
    running = round().finally(() => {
      if (!signal.aborted) cancel = clock.after(everyMs, begin);
    });
  }

  async function round(): Promise<void> {
    try {
      await work(signal);
      failing = false;
    } catch (error) {
      if (!failing && !signal.aborted) onFailure(error);
      failing = true;
    }
  }

  return {
    async stop(): Promise<void> {
      leaving.abort();
      cancel();
      await running;
    },
  };
}
