import { chmodSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkspaceSize } from '../sandbox/workspace-tree.ts';
import { OpenDirectory } from './directory/open-directory.ts';
import { ReadOnlyTree } from './directory/read-only-tree.ts';
import { Staging, uniqueName } from './directory/staging.ts';
import { makePassable, PASSABLE_MODE } from './sandbox-directory.ts';
import type { DiskSpace } from './space/disk-reserve.ts';

interface SkillDirectoryOptions {
  /** Absolute. Only this process may use it. It is created when it is missing. */
  path: string;
  /** Limit of all copies together. */
  maxBytes: number;
  readDisk(): DiskSpace;
}

const STAGING = '.staging';
const FILES = 'files';

/** The path of the files of a copy, below the directory of all copies. */
export const filesOfCopy = (copy: string): string => join(copy, FILES);

/**
 * The directory with the copies of skills of one runner process. A copy is written in the staging directory and then moved
 * into place, so that it is complete as soon as it has a name.
 */
export class SkillDirectory {
  readonly path: string;
  readonly maxBytes: number;
  readonly #readDisk: () => DiskSpace;
  readonly #staging: Staging;

  constructor({ path, maxBytes, readDisk }: SkillDirectoryOptions) {
    this.path = path;
    this.maxBytes = maxBytes;
    this.#readDisk = readDisk;
    mkdirSync(join(path, STAGING), { recursive: true, mode: 0o700 });
    chmodSync(path, PASSABLE_MODE);
    this.#staging = new Staging(join(path, STAGING));
  }

  /** Whether the disk has space for a copy, above its reserve. */
  hasSpaceFor({ bytes, files }: WorkspaceSize): boolean {
    const { freeBytes, freeInodes } = this.#readDisk();
    return bytes <= freeBytes && files <= freeInodes;
  }

  /** Creates a copy and returns its name. `requireSpace` gets its size before `write` writes files. A failure leaves nothing. */
  async create(
    write: (tree: ReadOnlyTree) => Promise<unknown>,
    requireSpace: (size: WorkspaceSize) => Promise<void>,
  ): Promise<string> {
    const copy = uniqueName();
    const temporary = join(this.#staging.path, copy);
    const path = join(temporary, FILES);
    try {
      makePassable(temporary);
      mkdirSync(path, { mode: 0o700 });
      const tree = new ReadOnlyTree({ path, staging: this.#staging, requireSpace });
      await write(tree);
      tree.seal();
      renameSync(temporary, join(this.path, copy));
      return copy;
    } catch (error) {
      using staging = this.#staging.open();
      await this.#staging.remove(staging, copy);
      throw error;
    }
  }

  /** Removes a copy that no command uses. */
  async remove(copy: string): Promise<void> {
    using directory = OpenDirectory.open(this.path);
    await this.#staging.remove(directory, copy);
  }

  /** Removes all copies, and those that an earlier process was writing or removing when it ended. */
  async clear(): Promise<void> {
    await this.#staging.clear();
    for (const name of readdirSync(this.path)) if (name !== STAGING) await this.remove(name);
  }
}
