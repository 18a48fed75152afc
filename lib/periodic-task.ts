import type { Clock } from './clock.ts';

interface PeriodicTaskOptions {
  clock: Clock;
  /** The delay before the first run and from the end of a run to the start of the next. */
  everyMs: number;
  /** The signal aborts when the task is stopped. */
  work: (signal: AbortSignal) => Promise<void>;
  /** Called for the first failure after a success, so once per outage. */
  onFailure: (error: unknown) => void;
}

/** Runs `work` periodically. Runs never overlap. `stop` resolves when the current run has ended. */
export function startPeriodicTask({ clock, everyMs, work, onFailure }: PeriodicTaskOptions) {
  const stopping = new AbortController();
  const { signal } = stopping;
  let failing = false;
  let running: Promise<void> = Promise.resolve();
  let cancel = clock.after(everyMs, start);

  function start(): void {
    running = runOnce().finally(() => {
      if (!signal.aborted) cancel = clock.after(everyMs, start);
    });
  }

  async function runOnce(): Promise<void> {
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
      stopping.abort();
      cancel();
      await running;
    },
  };
}
