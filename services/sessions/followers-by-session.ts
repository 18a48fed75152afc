interface SessionFollower {
  readonly sessionId: string;
  /** The follower does not count: runners report at the pace of a session without followers. */
  readonly isPassive: boolean;
}

/** The followers of a process. The sessions with a follower that counts are `has` and `keys`. */
export class FollowersBySession<Follower extends SessionFollower> implements Iterable<Follower> {
  readonly #followers = new Map<string, Set<Follower>>();
  /** The number of passive followers, of sessions that have any. */
  readonly #passive = new Map<string, number>();

  add(follower: Follower): void {
    const { sessionId, isPassive } = follower;
    const others = this.#followers.get(sessionId);
    if (others) others.add(follower);
    else this.#followers.set(sessionId, new Set([follower]));
    if (isPassive) this.#passive.set(sessionId, (this.#passive.get(sessionId) ?? 0) + 1);
  }

  /** Has no effect on a follower that was removed before. */
  remove(follower: Follower): void {
    const { sessionId, isPassive } = follower;
    const all = this.#followers.get(sessionId);
    if (!all?.delete(follower)) return;
    if (all.size === 0) this.#followers.delete(sessionId);
    if (!isPassive) return;
    const passive = (this.#passive.get(sessionId) ?? 0) - 1;
    if (passive > 0) this.#passive.set(sessionId, passive);
    else this.#passive.delete(sessionId);
  }

  of(sessionId: string): Iterable<Follower> {
    return this.#followers.get(sessionId) ?? [];
  }

  /** The sessions with any follower. */
  get sessionIds(): string[] {
    return [...this.#followers.keys()];
  }

  get count(): number {
    let count = 0;
    for (const all of this.#followers.values()) count += all.size;
    return count;
  }

  has(sessionId: string): boolean {
    const all = this.#followers.get(sessionId);
    return all !== undefined && all.size > (this.#passive.get(sessionId) ?? 0);
  }

  *keys(): Generator<string> {
    for (const sessionId of this.#followers.keys()) if (this.has(sessionId)) yield sessionId;
  }

  *[Symbol.iterator](): Iterator<Follower> {
    for (const all of this.#followers.values()) yield* all;
  }
}
