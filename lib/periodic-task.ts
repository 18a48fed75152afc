import type { Clock } from './clock.ts';

interface PeriodicTaskOptions {
  clock: Clock;
  /** The delay from the end of a run to the start of the next. */
  everyMs: number;
  /** The delay before the first run. Default: `everyMs`. */
  firstAfterMs?: number;
  /** The signal aborts when the task is stopped. */
  work: (signal: AbortSignal) => Promise<void>;
  /** Called for the first failure after a success, so once per outage. */
  onFailure: (error: unknown) => void;
}

export interface PeriodicTask {
  /** Starts a run now, or another run after the current one. */
  request(): void;
  /** Resolves when the current run has ended. */
  stop(): Promise<void>;
}

/** Runs `work` periodically and on request. Runs never overlap. */
export function startPeriodicTask(options: PeriodicTaskOptions): PeriodicTask {
  const { clock, everyMs, firstAfterMs = everyMs, work, onFailure } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  let isRequested = false;
  let isFailing = false;
  let running: Promise<void> | undefined;
  let cancel = clock.after(firstAfterMs, request);

  function request(): void {
    isRequested = true;
    if (signal.aborted || running) return;
    cancel();
    running = runOnce().finally(() => {
      running = undefined;
      if (isRequested) request();
      else if (!signal.aborted) cancel = clock.after(everyMs, request);
    });
  }

  async function runOnce(): Promise<void> {
    isRequested = false;
    try {
      await work(signal);
      isFailing = false;
    } catch (error) {
      if (!isFailing && !signal.aborted) onFailure(error);
      isFailing = true;
    }
  }

  return {
    request,
    async stop() {
      stopping.abort();
      cancel();
      await running;
    },
  };
}
