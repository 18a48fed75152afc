import { after } from '../domain/change.ts';
import type { SessionState } from '../domain/state.ts';
import type { Decided } from './apply.ts';

/** Sessions that are remembered, at most; the oldest one is forgotten. */
const KEPT = 10_000;

/**
 * How the last change here left the sessions that are at work on their only turn, so that a report of that turn
 * need not read it again. It may be out of date: what is decided on it is written only where the session still
 * stands at the same event.
 */
export class Known {
  readonly #states = new Map<string, SessionState>();

  get(sessionId: string): SessionState | undefined {
    return this.#states.get(sessionId);
  }

  forget(sessionId: string): void {
    this.#states.delete(sessionId);
  }

  /** A change has been committed. */
  note({ state, change, entry }: Decided): void {
    this.#states.delete(state.sessionId);
    if (change.head.currentTurnId === null || change.head.queuedTurns > 0) return;
    for (const [oldest] of this.#states) {
      if (this.#states.size < KEPT) break;
      this.#states.delete(oldest);
    }
    this.#states.set(state.sessionId, after(state, change, entry?.lastSeq ?? state.lastSeq));
  }
}
