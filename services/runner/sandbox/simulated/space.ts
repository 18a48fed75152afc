import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isNearlyFull } from '../reserve.ts';
import { FsError, type Mount } from './names.ts';

/** Counts what is written, and refuses it when there is no room for it. */
export class Space {
  readonly #temporary: readonly Mount[];
  readonly #limitBytes: number;
  #usedBytes: number | undefined;

  constructor(mounts: readonly Mount[], limitBytes: number) {
    this.#temporary = mounts.filter(({ isTemporary }) => isTemporary);
    this.#limitBytes = limitBytes;
  }

  /** Throws ENOSPC. */
  claim(mount: Mount, bytes: number, path: string): void {
    if (bytes <= 0) return;
    if (isNearlyFull(mount.root, bytes)) throw full(path);
    if (!mount.isTemporary) return;
    // What was removed meanwhile is found when it matters.
    if ((this.#usedBytes ?? Number.POSITIVE_INFINITY) + bytes > this.#limitBytes)
      this.#usedBytes = this.#measure();
    const used = (this.#usedBytes ?? 0) + bytes;
    if (used > this.#limitBytes) throw full(path);
    this.#usedBytes = used;
  }

  #measure(): number {
    return this.#temporary.reduce((sum, { root }) => sum + sizeOf(root), 0);
  }
}

const full = (path: string) => new FsError('ENOSPC', 'no space left on device, write', path);

function sizeOf(root: string): number {
  let sum = 0;
  for (const entry of readdirSync(root, { withFileTypes: true })) {
    const path = join(root, entry.name);
    if (entry.isDirectory()) sum += sizeOf(path);
    else sum += lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;
  }
  return sum;
}
