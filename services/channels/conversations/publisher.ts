import type { WantedContent } from './wanted-content.ts';

/** Makes the posts at a product agree with the wanted ones. */
export interface Publisher {
  /**
   * Makes at most one change. Returns the milliseconds until the next change can be made: 0 for at once, undefined when all
   * posts are as wanted. Rejects with LEASE_LOST.
   */
  step(wanted: readonly WantedContent[], signal: AbortSignal): Promise<number | undefined>;
  /** Writes the notes that were postponed. Call it before the lease is released. */
  flush(signal: AbortSignal): Promise<void>;
  /** The turns with posts that are not as wanted yet. */
  openTurns(wanted: readonly WantedContent[]): Set<string>;
}
