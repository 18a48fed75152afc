import { chownSync, mkdirSync, type StatsFs, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { shownBytes } from '../sandbox/shown-bytes.ts';
import { DirectoryTree } from './directory/directory-tree.ts';
import { Staging } from './directory/staging.ts';
import type { Ownership } from './directory/write-file.ts';
import type { CopySpace } from './space/space-limits.ts';
import type { SpaceMonitor } from './space/space-monitor.ts';
import type { MonitoredCopy } from './space/space-watch.ts';

const PRIVATE_MODE = 0o700;
/** A copy with less free space than both has reached its limit. */
const FULL_BYTES = 1024 * 1024;
const FULL_SHARE = 1 / 64;

/** A file system of its own that holds a copy, and so limits it. */
export interface CopyVolume {
  /** Returns the bytes that the volume uses on the disk. */
  usedBytes(): number;
}

interface CopyDirectoryOptions {
  /** sbx_… */
  sandboxId: string;
  /** The directory of the copy. With a volume it is the mount point. */
  path: string;
  /** The name of the directory. */
  name: string;
  owner: Ownership | undefined;
  limit: CopySpace;
  maxFiles: number;
  volume: CopyVolume | undefined;
  monitor: SpaceMonitor;
}

/**
 * The directory of one workspace copy: the files, which commands see as /workspace, and beside them the directory in
 * which files are written before they are moved into place.
 */
export class CopyDirectory implements MonitoredCopy {
  readonly sandboxId: string;
  readonly name: string;
  /** The directory that commands see. */
  readonly files: string;
  readonly tree: DirectoryTree;
  readonly #options: CopyDirectoryOptions;
  #volumeBytes = 0;

  constructor(options: CopyDirectoryOptions) {
    const { path, name, owner, limit, maxFiles, monitor } = options;
    this.#options = options;
    this.sandboxId = options.sandboxId;
    this.name = name;
    this.files = join(path, 'files');
    const staging = join(path, 'staging');
    mkdirSync(this.files, { mode: PRIVATE_MODE });
    mkdirSync(staging, { mode: PRIVATE_MODE });
    if (owner) chownSync(this.files, owner.uid, owner.gid);
    this.tree = new DirectoryTree({
      path: this.files,
      staging: new Staging(staging),
      owner,
      maxFiles,
      limit,
      freeBytes: () => monitor.freeBytes(),
    });
  }

  /** The kernel enforces the limit of a volume. */
  get limit(): CopySpace | undefined {
    return this.isCheap ? undefined : this.#options.limit;
  }

  get isCheap(): boolean {
    return this.#options.volume !== undefined;
  }

  get knownSpace(): CopySpace {
    const { volume } = this.#options;
    if (!volume) return this.tree.knownSpace;
    try {
      this.#volumeBytes = volume.usedBytes();
    } catch {
      // The volume was removed with its sandbox.
    }
    return { bytes: this.#volumeBytes, entries: 0 };
  }

  measure(): Promise<CopySpace> {
    return this.tree.measure();
  }

  /** The limit of the volume that is used up, as a clause: a command may have failed to write a file. */
  get fullLimit(): string | undefined {
    const { volume, path, limit, maxFiles } = this.#options;
    const space = volume && readVolume(path);
    if (!space) return undefined;
    const { bavail, bsize, ffree } = space;
    if (bavail * bsize < Math.min(FULL_BYTES, limit.bytes * FULL_SHARE))
      return `the copy of the workspace reached its limit of ${shownBytes(limit.bytes)}`;
    if (ffree > 0) return undefined;
    return `the copy of the workspace reached its limit of ${maxFiles} files and ${maxFiles} directories`;
  }
}

/** Returns undefined when the volume was removed with its sandbox. */
function readVolume(path: string): StatsFs | undefined {
  try {
    return statfsSync(path);
  } catch {
    return undefined;
  }
}
