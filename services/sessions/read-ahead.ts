import type { Tail } from './store/tails.ts';

/**
 * Length of the events that were read but not sent yet, of all followers together. A follower that waits for its client
 * longer than others reads them again.
 */
const READ_AHEAD_CHARACTERS = 16 * 1024 * 1024;

/** The events that were read for followers and not sent yet. The oldest are dropped when they exceed the limit together. */
export class ReadAhead<Follower> {
  readonly #rests = new Map<Follower, { tail: Tail; characters: number }>();
  #characters = 0;

  keep(follower: Follower, tail: Tail): void {
    const characters = tail.events.reduce((sum, { json }) => sum + json.length, 0);
    this.#rests.set(follower, { tail, characters });
    this.#characters += characters;
    for (const oldest of this.#rests.keys()) {
      if (this.#characters <= READ_AHEAD_CHARACTERS) break;
      this.take(oldest);
    }
  }

  /** Returns and removes the events of a follower. */
  take(follower: Follower): Tail | undefined {
    const rest = this.#rests.get(follower);
    if (!rest) return undefined;
    this.#rests.delete(follower);
    this.#characters -= rest.characters;
    return rest.tail;
  }
}
