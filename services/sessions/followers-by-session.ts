interface SessionFollower {
  readonly sessionId: string;
  /** The follower does not count: runners report at the pace of a session without followers. */
  readonly isPassive: boolean;
}

/** The followers of a process. The sessions with a follower that counts are `has` and `keys`. */
export class FollowersBySession<Follower extends SessionFollower> implements Iterable<Follower> {
  /** Most sessions have one follower, for which a set would take more memory than the follower. */
  readonly #followers = new Map<string, Follower | Set<Follower>>();
  /** The number of passive followers, of sessions that have any. */
  readonly #passive = new Map<string, number>();

  add(follower: Follower): void {
    const { sessionId, isPassive } = follower;
    const others = this.#followers.get(sessionId);
    if (others === undefined) this.#followers.set(sessionId, follower);
    else if (others instanceof Set) others.add(follower);
    else if (others !== follower) this.#followers.set(sessionId, new Set([others, follower]));
    if (isPassive) this.#passive.set(sessionId, (this.#passive.get(sessionId) ?? 0) + 1);
  }

  /** Has no effect on a follower that was removed before. */
  remove(follower: Follower): void {
    const { sessionId, isPassive } = follower;
    const all = this.#followers.get(sessionId);
    if (all instanceof Set) {
      if (!all.delete(follower)) return;
      const [last] = all;
      if (all.size === 1 && last) this.#followers.set(sessionId, last);
    } else {
      if (all !== follower) return;
      this.#followers.delete(sessionId);
    }
    if (!isPassive) return;
    const passive = (this.#passive.get(sessionId) ?? 0) - 1;
    if (passive > 0) this.#passive.set(sessionId, passive);
    else this.#passive.delete(sessionId);
  }

  of(sessionId: string): Iterable<Follower> {
    const all = this.#followers.get(sessionId);
    if (all instanceof Set) return all;
    return all === undefined ? [] : [all];
  }

  /** The sessions with any follower. */
  get sessionIds(): string[] {
    return [...this.#followers.keys()];
  }

  get count(): number {
    let count = 0;
    for (const all of this.#followers.values()) count += sizeOf(all);
    return count;
  }

  has(sessionId: string): boolean {
    const all = this.#followers.get(sessionId);
    return all !== undefined && sizeOf(all) > (this.#passive.get(sessionId) ?? 0);
  }

  *keys(): Generator<string> {
    for (const sessionId of this.#followers.keys()) if (this.has(sessionId)) yield sessionId;
  }

  *[Symbol.iterator](): Iterator<Follower> {
    for (const sessionId of this.#followers.keys()) yield* this.of(sessionId);
  }
}

const sizeOf = <Follower>(all: Follower | Set<Follower>) => (all instanceof Set ? all.size : 1);
