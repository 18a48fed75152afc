import {
  lchownSync,
  lstatSync,
  mkdirSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { refuse } from '../../../../lib/errors.ts';
import type { FileFacts, Scan, TreeIndex, WorkspaceTree } from '../tree.ts';
import { freshName, type Staging } from './erase.ts';
import { codeOf, Folder } from './folder.ts';
import { readFile } from './reading.ts';
import { note, scan } from './scan.ts';
import { type Ownership, writeFile } from './writing.ts';

export interface DirectoryOptions {
  /** The directory that a command finds as /workspace. Nobody but the service may change the path to it. */
  path: string;
  staging: Staging;
  /** Of all that is in it; absent for the user of this process. */
  owner?: Ownership | undefined;
  /** Files, directories and links altogether. */
  maxEntries?: number;
}

const MAX_ENTRIES = 500_000;
const NOT_THERE = ['ENOENT', 'ENOTDIR', 'ELOOP'];

/**
 * The files of a workspace in a directory of this machine. Commands may have left anything there, and what they
 * started may still change it if it found a way to live on: every step goes through directories that are held open,
 * and none through a link. Refuses with STORAGE_FULL when the disk is, and with QUOTA_EXCEEDED when there is more in
 * it than it may hold.
 */
export class DirectoryTree implements WorkspaceTree {
  readonly #options: DirectoryOptions;

  constructor(options: DirectoryOptions) {
    this.#options = options;
  }

  async clear(): Promise<void> {
    using root = this.#open();
    await this.#options.staging.empty(root);
  }

  async remove(path: string): Promise<void> {
    try {
      await this.#in(path, (folder, name) => this.#options.staging.remove(folder, name));
    } catch (error) {
      if (!NOT_THERE.includes(codeOf(error))) throw error;
    }
  }

  async makeDirectory(path: string): Promise<void> {
    await this.#make(path, async (folder, name) => {
      const made = folder.at(name);
      if (isDirectory(made)) return;
      await this.#options.staging.remove(folder, name);
      mkdirSync(made);
      this.#own(made);
    });
  }

  async putSymlink(path: string, target: string): Promise<void> {
    await this.#appear(path, (made) => {
      symlinkSync(target, made);
      this.#own(made);
    });
  }

  async putFile(path: string, content: AsyncIterable<Uint8Array>, about: FileFacts): Promise<void> {
    await this.#appear(path, (made) => writeFile(made, content, about, this.#options.owner));
  }

  async scan(seen: TreeIndex): Promise<Scan> {
    using root = this.#open();
    return await scan(root, seen, this.#limits());
  }

  async note(seen: TreeIndex): Promise<void> {
    using root = this.#open();
    await note(root, seen, this.#limits());
  }

  async *read(path: string): AsyncGenerator<Uint8Array> {
    using root = this.#open();
    const { folder, name } = root.parentOf(path);
    using _ = folder;
    yield* readFile(folder, name);
  }

  #open(): Folder {
    return Folder.open(this.#options.path);
  }

  #own(path: string): void {
    const { owner } = this.#options;
    if (owner) lchownSync(path, owner.uid, owner.gid);
  }

  /** Carries something out in the directory above a path. */
  async #in(path: string, action: (folder: Folder, name: string) => Promise<void>): Promise<void> {
    using root = this.#open();
    const { folder, name } = root.parentOf(path);
    using _ = folder;
    await action(folder, name);
  }

  async #make(path: string, action: (folder: Folder, name: string) => Promise<void>): Promise<void> {
    try {
      await this.#in(path, action);
    } catch (error) {
      throw ['ENOSPC', 'EDQUOT'].includes(codeOf(error))
        ? refuse('STORAGE_FULL', 'The disk of the runner is full.', { cause: error })
        : error;
    }
  }

  /** Makes something out of sight, and puts it in the place of what is there. */
  async #appear(path: string, make: (made: string) => Promise<void> | void): Promise<void> {
    const { staging } = this.#options;
    await this.#make(path, async (folder, name) => {
      using area = staging.open();
      const made = area.at(freshName());
      try {
        await make(made);
        if (isDirectory(folder.at(name))) await staging.remove(folder, name);
        renameSync(made, folder.at(name));
      } catch (error) {
        discard(made);
        throw error;
      }
    });
  }

  /** What the clock of the file system says, which is the one that stamps changes. */
  #limits(): { nowNs: bigint; maxEntries: number } {
    const { staging, maxEntries = MAX_ENTRIES } = this.#options;
    using area = staging.open();
    const probe = area.at(freshName());
    writeFileSync(probe, '', { flag: 'wx' });
    try {
      return { nowNs: lstatSync(probe, { bigint: true }).ctimeNs, maxEntries };
    } finally {
      discard(probe);
    }
  }
}

function isDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function discard(made: string): void {
  try {
    unlinkSync(made);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}
