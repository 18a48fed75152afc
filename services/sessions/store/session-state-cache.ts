import { LruCache } from '../../../lib/lru.ts';
import { stateAfter } from '../domain/change.ts';
import type { SessionState } from '../domain/state.ts';
import type { SessionChange } from './apply.ts';

const MAX_ENTRIES = 10_000;

/**
 * The states of sessions that work on their only turn, as the last change in this process left them, so that a report
 * of that turn need not read the session again. An entry may be out of date: a decision on it is applied only if the
 * session's `last_seq` is unchanged. At most 10,000 entries; the least recently used one is evicted.
 */
export class SessionStateCache {
  readonly #states = new LruCache<string, SessionState>(MAX_ENTRIES);

  get(sessionId: string): SessionState | undefined {
    return this.#states.get(sessionId);
  }

  delete(sessionId: string): void {
    this.#states.delete(sessionId);
  }

  /** Stores the state after a committed change. */
  put({ state, change, row }: SessionChange): void {
    if (change.head.currentTurnId === null || change.head.queuedTurns > 0) {
      this.delete(state.sessionId);
    } else {
      this.#states.set(state.sessionId, stateAfter(state, change, row?.lastSeq ?? state.lastSeq));
    }
  }
}
