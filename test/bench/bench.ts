import type { BenchPostgres } from './subjects/postgres.ts';

/** The context of a measurement. */
export interface Bench {
  postgres: BenchPostgres;
  /** Duration of one measurement after its warm-up. */
  durationMs: number;
  /** Factor for the numbers of sessions, followers, connections and events; 1 is the full size. */
  scale: number;
  /** Whether CPU profiles are recorded, which distorts every other figure. */
  profiling: boolean;
  /** Prints lines with the letter of a row. */
  print(letter: string, text: string): void;
}

/** Milliseconds; NaN without measurements. */
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

/** No measurement of a working system takes longer. */
const LIMIT_MS = 600_000;

/** Returns the result of `work`. Rejects when it takes longer than `limitMs`; Playwright's `evaluate` has no limit. */
export async function within<Result>(
  what: string,
  work: Promise<Result>,
  limitMs = LIMIT_MS,
): Promise<Result> {
  const limit = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => limit.reject(new Error(`${what} has not ended after ${limitMs / 1_000} s`)),
    limitMs,
  );
  return Promise.race([work, limit.promise]).finally(() => clearTimeout(timer));
}

/** Resolves after `ms`, or when the signal aborts. */
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
