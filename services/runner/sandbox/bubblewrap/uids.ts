import { readFileSync } from 'node:fs';
import type { Ownership } from '../directory/writing.ts';

/** So many sandboxes can be there at the same time. */
export const MOST_UIDS = 10_000;

/** Users that nobody else is: each sandbox of a service that runs as root is one of its own. */
export class Uids {
  readonly #first: number;
  readonly #used = new Set<number>();
  #next = 0;

  constructor(first: number) {
    this.#first = first;
  }

  take(): Ownership {
    for (let tries = 0; tries < MOST_UIDS; tries++) {
      const uid = this.#first + (this.#next++ % MOST_UIDS);
      if (this.#used.has(uid)) continue;
      this.#used.add(uid);
      return { uid, gid: uid };
    }
    throw new Error('all users for sandboxes are taken');
  }

  /** One that an earlier process took; undefined when it is none of these. */
  takeAgain(uid: number): Ownership | undefined {
    if (uid < this.#first || uid >= this.#first + MOST_UIDS) return undefined;
    this.#used.add(uid);
    return { uid, gid: uid };
  }

  giveBack({ uid }: Ownership): void {
    this.#used.delete(uid);
  }

  /** Whether there are such users for this process: in a container, there may be only some. */
  get areThere(): boolean {
    return ['uid_map', 'gid_map'].every((name) =>
      readFileSync(`/proc/self/${name}`, 'utf8')
        .trim()
        .split('\n')
        .map((line) => line.trim().split(/\s+/).map(Number))
        .some(
          ([inside = 0, , length = 0]) => inside <= this.#first && inside + length >= this.#first + MOST_UIDS,
        ),
    );
  }
}
