import {
  lchownSync,
  lstatSync,
  mkdirSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { type Refusal, refuse } from '../../../../lib/errors.ts';
import { shownBytes } from '../../sandbox/shown-bytes.ts';
import { WorkspaceTooLarge } from '../../sandbox/workspace-too-large.ts';
import type {
  FileAttributes,
  ScanResult,
  TreeIndex,
  WorkspaceSize,
  WorkspaceTree,
} from '../../sandbox/workspace-tree.ts';
import type { CopySpace } from '../space/space-limits.ts';
import { errorCode, OpenDirectory } from './open-directory.ts';
import { readFile } from './read-file.ts';
import { buildIndex, listChanges, type ScanOptions, scan } from './scan.ts';
import { type Staging, uniqueName } from './staging.ts';
import { walk } from './walk.ts';
import { type Ownership, writeFile } from './write-file.ts';

interface DirectoryTreeOptions {
  /** The directory that commands see as /workspace. Only the service may change the directories above it. */
  path: string;
  staging: Staging;
  /** The owner of all entries; undefined for the user of this process. */
  owner?: Ownership | undefined;
  /** Files and links together. Applies separately to directories. */
  maxFiles: number;
  limit: CopySpace;
  /** Returns the free space of the disk, above its reserve. */
  freeBytes(): number;
}

const MISSING_CODES = ['ENOENT', 'ENOTDIR', 'ELOOP'];

/**
 * The files of a workspace in a directory of this machine. The directory may hold any entries, and a process that
 * survived its command may change it at any time. Therefore each operation uses open directories and follows no link.
 * Throws STORAGE_FULL when there is no space for a file, WorkspaceTooLarge when a workspace does not fit, and QUOTA_EXCEEDED when the tree has more
 * than `maxFiles` files or directories.
 */
export class DirectoryTree implements WorkspaceTree {
  readonly #options: DirectoryTreeOptions;
  /** The size of the workspace while it is written to the tree. */
  #expectedSize: WorkspaceSize | undefined;
  #knownSpace: CopySpace = { bytes: 0, entries: 0 };

  constructor(options: DirectoryTreeOptions) {
    this.#options = options;
  }

  async clear(): Promise<void> {
    using root = this.#open();
    await this.#options.staging.empty(root);
    this.#knownSpace = { bytes: 0, entries: 0 };
  }

  /** The space that the tree used when it was last scanned or cleared. */
  get knownSpace(): CopySpace {
    return this.#knownSpace;
  }

  async requireSpace(size: WorkspaceSize): Promise<void> {
    this.#expectedSize = size;
    const { limit, maxFiles, freeBytes } = this.#options;
    if (size.bytes > limit.bytes || size.files > maxFiles) throw this.#full();
    const free = Math.max(0, freeBytes());
    if (size.bytes - this.#knownSpace.bytes > free)
      throw new WorkspaceTooLarge(
        size,
        `the disk of the runner has only ${shownBytes(free)} left for copies`,
      );
  }

  /** Scans the tree only for the space that it uses. */
  async measure(): Promise<CopySpace> {
    const space = { bytes: 0, entries: 0 };
    using root = this.#open();
    await walk(root, {
      nowNs: 0n,
      maxFiles: Number.POSITIVE_INFINITY,
      found(_path, _entry, { allocatedBytes }) {
        space.bytes += allocatedBytes;
        space.entries += 1;
      },
      skipped() {
        space.entries += 1;
      },
    });
    this.#knownSpace = space;
    return space;
  }

  async remove(path: string): Promise<void> {
    try {
      await this.#inParent(path, (parent, name) => this.#options.staging.remove(parent, name));
    } catch (error) {
      if (!MISSING_CODES.includes(errorCode(error))) throw error;
    }
  }

  async makeDirectory(path: string): Promise<void> {
    await this.#write(path, async (parent, name) => {
      const target = parent.pathOf(name);
      if (isDirectory(target)) return;
      await this.#options.staging.remove(parent, name);
      mkdirSync(target);
      this.#setOwner(target);
    });
  }

  async putSymlink(path: string, target: string): Promise<void> {
    await this.#replace(path, (temporary) => {
      symlinkSync(target, temporary);
      this.#setOwner(temporary);
    });
  }

  async putFile(path: string, content: AsyncIterable<Uint8Array>, attributes: FileAttributes): Promise<void> {
    await this.#replace(path, (temporary) => writeFile(temporary, content, attributes, this.#options.owner));
  }

  async scan(index: TreeIndex): Promise<ScanResult> {
    using root = this.#open();
    return await scan(root, index, this.#walkOptions());
  }

  async listChanges(index: TreeIndex, max: number): Promise<{ paths: string[]; hasMore: boolean }> {
    using root = this.#open();
    return await listChanges(root, index, max);
  }

  async updateIndex(index: TreeIndex): Promise<void> {
    using root = this.#open();
    await buildIndex(root, index, this.#walkOptions());
  }

  async *read(path: string): AsyncGenerator<Uint8Array> {
    using root = this.#open();
    const { parent, name } = root.parentOf(path);
    using _ = parent;
    yield* readFile(parent, name);
  }

  #open(): OpenDirectory {
    return OpenDirectory.open(this.#options.path);
  }

  #setOwner(path: string): void {
    const { owner } = this.#options;
    if (owner) lchownSync(path, owner.uid, owner.gid);
  }

  /** Calls `action` with the parent directory of a path. */
  async #inParent(
    path: string,
    action: (parent: OpenDirectory, name: string) => Promise<void>,
  ): Promise<void> {
    using root = this.#open();
    const { parent, name } = root.parentOf(path);
    using _ = parent;
    await action(parent, name);
  }

  async #write(path: string, action: (parent: OpenDirectory, name: string) => Promise<void>): Promise<void> {
    try {
      await this.#inParent(path, action);
    } catch (error) {
      throw ['ENOSPC', 'EDQUOT'].includes(errorCode(error)) ? this.#full(error) : error;
    }
  }

  /** Creates an entry in the staging directory, then moves it over the existing one. */
  async #replace(path: string, make: (temporary: string) => Promise<void> | void): Promise<void> {
    const { staging } = this.#options;
    await this.#write(path, async (parent, name) => {
      using stagingDirectory = staging.open();
      const temporary = stagingDirectory.pathOf(uniqueName());
      try {
        await make(temporary);
        if (isDirectory(parent.pathOf(name))) await staging.remove(parent, name);
        renameSync(temporary, parent.pathOf(name));
      } catch (error) {
        discard(temporary);
        throw error;
      }
    });
  }

  #full(cause?: unknown): Refusal {
    const { limit, maxFiles } = this.#options;
    if (!this.#expectedSize)
      return refuse('STORAGE_FULL', 'The copy of the workspace has no space left.', { cause });
    const text = `its copy in this sandbox can have ${shownBytes(limit.bytes)} in ${maxFiles} files`;
    return new WorkspaceTooLarge(this.#expectedSize, text);
  }

  #walkOptions(): ScanOptions {
    this.#expectedSize = undefined;
    const { maxFiles } = this.#options;
    const measured = (space: CopySpace) => {
      this.#knownSpace = space;
    };
    return { nowNs: this.#readClock(), maxFiles, measured };
  }

  /** Reads the file system's clock, which differs from the system clock and determines change times. */
  #readClock(): bigint {
    const { staging } = this.#options;
    using stagingDirectory = staging.open();
    const probe = stagingDirectory.pathOf(uniqueName());
    writeFileSync(probe, '', { flag: 'wx' });
    try {
      return lstatSync(probe, { bigint: true }).ctimeNs;
    } finally {
      discard(probe);
    }
  }
}

function isDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function discard(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}
