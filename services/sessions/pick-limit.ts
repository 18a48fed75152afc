/** Picks without a result that may follow each other at once. */
const BURST = 5;
/** One more such pick is allowed after each interval: in any second at most ten in all. */
const INTERVAL_MS = 200;

/**
 * Limits picks that find no turn, which hints for other instances cause. Picks that find turns are not limited.
 * All times are in milliseconds since the epoch.
 */
export class PickLimit {
  #allReplenishedAt = 0;

  /** Milliseconds until the next pick. */
  delay(now: number): number {
    return Math.max(0, this.#allReplenishedAt - now - (BURST - 1) * INTERVAL_MS);
  }

  countEmptyPick(now: number): void {
    const next = Math.max(this.#allReplenishedAt, now) + INTERVAL_MS;
    // Claims that do not wait cause picks beyond the limit, which must not delay later picks for longer.
    this.#allReplenishedAt = Math.min(next, now + BURST * INTERVAL_MS);
  }
}
