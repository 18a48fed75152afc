import type { BenchPostgres } from './postgres.ts';

/** What every measurement is given. */
export interface Bench {
  postgres: BenchPostgres;
  /** Of one measurement, after its warm-up. */
  durationMs: number;
  /** What part of the sessions, followers, connections and events takes part: 1 is the whole of what is aimed at. */
  scale: number;
  /** Whether CPU profiles are taken, which falsifies every other figure. */
  profiling: boolean;
  /** Prints lines under the letter of a figure. */
  say(letter: string, text: string): void;
}

/** In milliseconds; NaN for what was not measured. */
export interface Spread {
  p50Ms: number;
  p99Ms: number;
}

export function spreadOf(values: readonly number[]): Spread {
  return { p50Ms: percentile(values, 0.5), p99Ms: percentile(values, 0.99) };
}

export function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;
}

/** Waits, or less long when the signal aborts. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
