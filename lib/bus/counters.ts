/** What somebody may do: `limit` times at once, and as often again in each `windowMs`, evenly. */
export interface Budget {
  limit: number;
  windowMs: number;
}

/**
 * Budgets that all processes draw on. A limit protects the service, so it never takes it down: a counter that cannot be
 * asked does not fail, and what it then does not know is left to each process alone.
 */
export interface Counters {
  /**
   * Takes one from the budget of a key. Resolves with 0 when it was there, otherwise with the milliseconds, at
   * least 1, until there is one again; nothing is taken then. A key that nobody uses is forgotten.
   */
  take(key: string, budget: Budget): Promise<number>;
  close(): Promise<void>;
}

/** Microseconds until one more comes into a budget. Whole, so that nothing is lost in sums. */
export function intervalOf({ limit, windowMs }: Budget): number {
  return Math.floor((windowMs * 1_000) / limit);
}
