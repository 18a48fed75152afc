/** Tells other processes after a commit what to look at. A hint may be lost. */
export interface Hints {
  /** The session's journal has new events. */
  appended(sessionId: string): void;
  /** A turn was interrupted while a runner held its lease. */
  stopped(turnId: string): void;
  /** A message waits for a turn whose lease a runner holds. */
  steered(turnId: string): void;
  /** A turn may be ready to be claimed. */
  ready(): void;
  /** There are new signals. */
  signalled(): void;
}
