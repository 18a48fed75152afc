import { readFileSync } from 'node:fs';
import { SandboxError } from '../../sandbox/sandbox-error.ts';
import type { Ownership } from '../directory/write-file.ts';

/** The number of user ids that are reserved for sandboxes, and so the most sandboxes at the same time. */
const UID_COUNT = 10_000;

/** User ids for sandboxes: each sandbox of a service that runs as root belongs to a user of its own. */
export class UidPool {
  readonly #first: number;
  readonly #used = new Set<number>();
  #next = 0;

  constructor(first: number) {
    this.#first = first;
  }

  /** Throws when all user ids are in use. */
  allocate(): Ownership {
    for (let attempt = 0; attempt < UID_COUNT; attempt++) {
      const uid = this.#first + (this.#next++ % UID_COUNT);
      if (this.#used.has(uid)) continue;
      this.#used.add(uid);
      return { uid, gid: uid };
    }
    throw new SandboxError(`All ${UID_COUNT} user ids for sandboxes are in use.`);
  }

  release({ uid }: Ownership): void {
    this.#used.delete(uid);
  }

  /** Whether all user ids exist in the user namespace of this process; in a container, only some may. */
  get isMapped(): boolean {
    return ['uid_map', 'gid_map'].every((name) =>
      readFileSync(`/proc/self/${name}`, 'utf8')
        .trim()
        .split('\n')
        .map((line) => line.trim().split(/\s+/).map(Number))
        .some(
          ([inside = 0, , length = 0]) => inside <= this.#first && inside + length >= this.#first + UID_COUNT,
        ),
    );
  }
}
