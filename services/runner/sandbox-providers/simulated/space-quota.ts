import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { shownBytes } from '../../sandbox/shown-bytes.ts';
import { isNearlyFull } from '../space/disk-reserve.ts';
import type { CopySpace } from '../space/space-limits.ts';
import { FsError, type Mount } from './mounts.ts';

export interface SpaceQuotaOptions {
  temporaryBytes: number;
  /** The limit of the workspace copy. */
  workspace: CopySpace;
  fileBytes: number;
  /** The space that the workspace copy uses before the command. */
  used: CopySpace;
  /** The space that all copies together can still use. */
  freeBytes: number;
}

/** Enforces the limits for temporary files and for the workspace copy, and the reserve of the disk. */
export class SpaceQuota {
  /** The limit of the workspace copy that has refused a write, as a clause. */
  reachedLimit: string | undefined;
  readonly #mounts: readonly Mount[];
  readonly #options: SpaceQuotaOptions;
  #temporaryBytes: number | undefined;
  #used: CopySpace;
  #addedBytes = 0;

  constructor(mounts: readonly Mount[], options: SpaceQuotaOptions) {
    this.#mounts = mounts;
    this.#options = options;
    this.#used = { ...options.used };
  }

  /** Accounts for `bytes` that a file of `size` bytes will gain. Throws EFBIG or ENOSPC when they do not fit. */
  reserve(mount: Mount, bytes: number, size: number, path: string): void {
    if (size > this.#options.fileBytes) throw new FsError('EFBIG', 'file too large, write', path);
    if (bytes <= 0) return;
    if (isNearlyFull(mount.directory, bytes))
      throw this.#noSpace(mount, path, 'the disk of the runner was nearly full');
    if (mount.use === 'temporary') this.#reserveTemporary(mount, bytes, path);
    else this.#reserveBytes(mount, bytes, path);
  }

  /** Accounts for a file, directory or link that will be created. Throws ENOSPC when it does not fit. */
  reserveEntry(mount: Mount, path: string): void {
    if (mount.use === 'temporary') return;
    const { entries } = this.#options.workspace;
    if (this.#used.entries + 1 > entries) this.#used = this.#measure('workspace');
    if (this.#used.entries + 1 > entries)
      throw this.#noSpace(
        mount,
        path,
        `the copy of the workspace reached its limit of ${entries / 2} files and ${entries / 2} directories`,
      );
    this.#used.entries += 1;
  }

  #reserveBytes(mount: Mount, bytes: number, path: string): void {
    const { workspace, freeBytes } = this.#options;
    this.#addedBytes += bytes;
    // Measures again at the limit only, because files may have been removed since.
    if (this.#used.bytes + bytes > workspace.bytes) this.#used = this.#measure('workspace');
    if (this.#used.bytes + bytes > workspace.bytes)
      throw this.#noSpace(
        mount,
        path,
        `the copy of the workspace reached its limit of ${shownBytes(workspace.bytes)}`,
      );
    if (this.#addedBytes > freeBytes) {
      this.#used = this.#measure('workspace');
      this.#addedBytes = Math.max(0, this.#used.bytes - this.#options.used.bytes) + bytes;
    }
    if (this.#addedBytes > freeBytes)
      throw this.#noSpace(mount, path, 'the workspace copies of the runner reached their common limit');
    this.#used.bytes += bytes;
  }

  #reserveTemporary(mount: Mount, bytes: number, path: string): void {
    const { temporaryBytes } = this.#options;
    if ((this.#temporaryBytes ?? Number.POSITIVE_INFINITY) + bytes > temporaryBytes)
      this.#temporaryBytes = this.#measure('temporary').bytes;
    const used = (this.#temporaryBytes ?? 0) + bytes;
    if (used > temporaryBytes) throw this.#noSpace(mount, path);
    this.#temporaryBytes = used;
  }

  #noSpace({ use }: Mount, path: string, limit?: string): FsError {
    if (use === 'workspace') this.reachedLimit = limit;
    return new FsError('ENOSPC', 'no space left on device, write', path);
  }

  #measure(use: Mount['use']): CopySpace {
    const space = { bytes: 0, entries: 0 };
    for (const mount of this.#mounts) if (mount.use === use) measure(mount.directory, space);
    return space;
  }
}

/** Adds the size and the number of the entries below a directory. */
function measure(root: string, space: CopySpace): void {
  for (const entry of readdirSync(root, { withFileTypes: true })) {
    const path = join(root, entry.name);
    space.entries += 1;
    if (entry.isDirectory()) measure(path, space);
    else space.bytes += lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;
  }
}
