import { chownSync, existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { isId } from '../../../lib/ids.ts';
import { freshName, Staging } from './directory/erase.ts';
import { Folder } from './directory/folder.ts';
import { DirectoryTree } from './directory/tree.ts';
import type { Ownership } from './directory/writing.ts';

const TRASH = '.trash';
const MODE = 0o700;

/** What the sandboxes of one provider have on the disk of this machine. Nobody but the service may enter it. */
export class Ground {
  readonly path: string;
  readonly #trash: Staging;

  constructor(path: string) {
    mkdirSync(join(path, TRASH), { recursive: true, mode: MODE });
    this.path = path;
    this.#trash = new Staging(join(path, TRASH));
  }

  /** A new place, which is there as a whole or not at all. */
  make(sandboxId: string, owner?: Ownership): Place {
    const aside = join(this.#trash.path, freshName());
    mkdirSync(aside, { mode: MODE });
    for (const part of ['staging', 'workspaces', 'tmp', 'home']) mkdirSync(join(aside, part), { mode: MODE });
    renameSync(aside, this.#pathOf(sandboxId));
    return new Place(this.#pathOf(sandboxId), owner);
  }

  find(sandboxId: string, owner?: Ownership): Place | undefined {
    const path = this.#pathOf(sandboxId);
    return existsSync(path) ? new Place(path, owner) : undefined;
  }

  /** The ids of all that have a place. */
  list(): string[] {
    return readdirSync(this.path).filter((name) => isId('sbx', name));
  }

  async remove(sandboxId: string): Promise<void> {
    using all = Folder.open(this.path);
    await this.#trash.remove(all, sandboxId);
  }

  /** Removes all but these, and what was being made or removed when an earlier process ended. */
  async sweep(keptSandboxIds: readonly string[]): Promise<void> {
    await this.#trash.clear();
    const gone = readdirSync(this.path).filter((name) => name !== TRASH && !keptSandboxIds.includes(name));
    for (const name of gone) await this.remove(name);
  }

  #pathOf(sandboxId: string): string {
    if (!isId('sbx', sandboxId)) throw new Error('is not the id of a sandbox');
    return join(this.path, sandboxId);
  }
}

/** What one sandbox has on the disk of this machine. */
export class Place {
  readonly path: string;
  /** For providers whose temporary files are on the disk, too. */
  readonly tmp: string;
  readonly home: string;
  readonly workspaces: string;
  readonly #owner: Ownership | undefined;
  readonly #staging: Staging;

  constructor(path: string, owner: Ownership | undefined) {
    this.path = path;
    this.tmp = join(path, 'tmp');
    this.home = join(path, 'home');
    this.workspaces = join(path, 'workspaces');
    this.#owner = owner;
    this.#staging = new Staging(join(path, 'staging'));
  }

  pathOf(workspaceId: string): string {
    if (!isId('wsp', workspaceId)) throw new Error('is not the id of a workspace');
    return join(this.workspaces, workspaceId);
  }

  has(workspaceId: string): boolean {
    return existsSync(this.pathOf(workspaceId));
  }

  /** Made when it is not there. */
  workspace(workspaceId: string): DirectoryTree {
    const path = this.pathOf(workspaceId);
    if (!existsSync(path)) {
      mkdirSync(path, { mode: MODE });
      if (this.#owner) chownSync(path, this.#owner.uid, this.#owner.gid);
    }
    return new DirectoryTree({ path, staging: this.#staging, owner: this.#owner });
  }
}
