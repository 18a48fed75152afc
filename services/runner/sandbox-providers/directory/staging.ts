import { renameSync, rmdirSync, unlinkSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { errorCode, OpenDirectory } from './open-directory.ts';

/** Entries that are deleted before other work of the process may run. */
const BATCH_SIZE = 128;
let lastNumber = 0;

/** Returns a name that is unique within this process and unlike those of other running processes. */
export const uniqueName = (): string => `${process.pid}-${++lastNumber}`;

/**
 * A directory in which entries are created before they are moved into place, and to which they are moved before they
 * are deleted. It is on the same disk as the directories that it serves, and no command sees it.
 */
export class Staging {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  open(): OpenDirectory {
    return OpenDirectory.open(this.path);
  }

  /** Removes an entry from a directory atomically, then deletes it with everything below it. */
  async remove(directory: OpenDirectory, name: string | Buffer): Promise<void> {
    using staging = this.open();
    const moved = moveToStaging(directory, name, staging);
    if (moved !== undefined) await deleteTree(staging, moved);
  }

  /** Removes all entries of a directory. */
  async empty(directory: OpenDirectory): Promise<void> {
    using staging = this.open();
    const names = directory.listBytes().flatMap(({ name }) => moveToStaging(directory, name, staging) ?? []);
    for (const name of names) await deleteTree(staging, name);
  }

  /** Deletes the entries that an earlier process left in this directory. */
  async clear(): Promise<void> {
    using staging = this.open();
    for (const { name } of staging.list()) await deleteTree(staging, name);
  }
}

function moveToStaging(
  directory: OpenDirectory,
  name: string | Buffer,
  staging: OpenDirectory,
): string | undefined {
  const moved = uniqueName();
  try {
    renameSync(directory.pathOf(name), staging.pathOf(moved));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    if (errorCode(error) !== 'EACCES') throw error;
    // A directory must be writable to be moved. Opening it restores the permissions of its owner.
    directory.openChild(name)[Symbol.dispose]();
    renameSync(directory.pathOf(name), staging.pathOf(moved));
  }
  return moved;
}

/** Deletes a tree of any depth: it moves each subdirectory into the staging directory before it descends into it. */
async function deleteTree(staging: OpenDirectory, first: string): Promise<void> {
  const queue = [first];
  let steps = 0;
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (removeFile(staging, name)) continue;
    using directory = staging.openChild(name);
    for (const entry of directory.listBytes()) {
      if (entry.isDirectory() || !removeFile(directory, entry.name)) {
        const moved = moveToStaging(directory, entry.name, staging);
        if (moved !== undefined) queue.push(moved);
      }
      if (++steps % BATCH_SIZE === 0) await setImmediate();
    }
    rmdirSync(staging.pathOf(name));
  }
}

/** Returns false when the entry is a directory. */
function removeFile(directory: OpenDirectory, name: string | Buffer): boolean {
  try {
    unlinkSync(directory.pathOf(name));
  } catch (error) {
    if (['EISDIR', 'EPERM'].includes(errorCode(error))) return false;
    if (errorCode(error) !== 'ENOENT') throw error;
  }
  return true;
}
