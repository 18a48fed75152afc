import { renameSync, rmdirSync, unlinkSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { codeOf, Folder } from './folder.ts';

const AT_A_STRETCH = 128;
let count = 0;

/** A name that nothing in this process has had before. */
export const freshName = (): string => `${process.pid}-${++count}`;

/**
 * Where things are made before they appear, and taken before they go: on the disk of what it serves, and out of
 * sight of any command.
 */
export class Staging {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  open(): Folder {
    return Folder.open(this.path);
  }

  /** Takes a name out of a directory at once, and then removes it with everything below it. */
  async remove(folder: Folder, name: string | Buffer): Promise<void> {
    using area = this.open();
    const taken = take(folder, name, area);
    if (taken !== undefined) await erase(area, taken);
  }

  /** Removes all that is in a directory. */
  async empty(folder: Folder): Promise<void> {
    using area = this.open();
    const all = folder.listBytes().flatMap(({ name }) => take(folder, name, area) ?? []);
    for (const one of all) await erase(area, one);
  }

  /** Removes what an earlier process left here. */
  async clear(): Promise<void> {
    using area = this.open();
    for (const { name } of area.list()) await erase(area, name);
  }
}

function take(folder: Folder, name: string | Buffer, area: Folder): string | undefined {
  const taken = freshName();
  try {
    renameSync(folder.at(name), area.at(taken));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    if (codeOf(error) !== 'EACCES') throw error;
    // Its owner locked it, and a directory that moves has to be written.
    folder.enter(name)[Symbol.dispose]();
    renameSync(folder.at(name), area.at(taken));
  }
  return taken;
}

/** However deep it is: each directory comes up beside the first before it is emptied. */
async function erase(area: Folder, first: string): Promise<void> {
  const queue = [first];
  let steps = 0;
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (removeFile(area, name)) continue;
    using folder = area.enter(name);
    for (const entry of folder.listBytes()) {
      if (entry.isDirectory() || !removeFile(folder, entry.name)) {
        const risen = take(folder, entry.name, area);
        if (risen !== undefined) queue.push(risen);
      }
      if (++steps % AT_A_STRETCH === 0) await setImmediate();
    }
    rmdirSync(area.at(name));
  }
}

/** False when it is a directory. */
function removeFile(folder: Folder, name: string | Buffer): boolean {
  try {
    unlinkSync(folder.at(name));
  } catch (error) {
    if (['EISDIR', 'EPERM'].includes(codeOf(error))) return false;
    if (codeOf(error) !== 'ENOENT') throw error;
  }
  return true;
}
