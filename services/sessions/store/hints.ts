/** Told after a commit what others may want to look at. A hint may be lost. */
export interface Hints {
  /** The session's journal has grown. */
  appended(sessionId: string): void;
  /** A turn was stopped while a runner held it. */
  stopped(turnId: string): void;
  /** A runner may find a turn. */
  ready(): void;
}
