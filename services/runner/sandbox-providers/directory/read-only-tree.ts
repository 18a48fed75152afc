import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathProblem } from '../../../../lib/paths.ts';
import type { FileAttributes, WorkspaceSize } from '../../sandbox/workspace-tree.ts';
import { OpenDirectory } from './open-directory.ts';
import type { Staging } from './staging.ts';
import { writeFile } from './write-file.ts';

interface ReadOnlyTreeOptions {
  /** An empty directory that only this process uses. */
  path: string;
  staging: Staging;
  /** Called with the size of the tree before its files are written. Rejects if there is no space for it. */
  requireSpace(size: WorkspaceSize): Promise<void>;
}

const MODES = { file: 0o444, executable: 0o555 };
const DIRECTORY_MODE = 0o555;

/** Receives files and directories that no program changes later. All users may read them. */
export class ReadOnlyTree {
  readonly #options: ReadOnlyTreeOptions;
  readonly #directories: string[] = [];

  constructor(options: ReadOnlyTreeOptions) {
    this.#options = options;
  }

  async clear(): Promise<void> {
    using directory = OpenDirectory.open(this.#options.path);
    await this.#options.staging.empty(directory);
    this.#directories.length = 0;
  }

  requireSpace(size: WorkspaceSize): Promise<void> {
    return this.#options.requireSpace(size);
  }

  async makeDirectory(path: string): Promise<void> {
    const target = this.#pathOf(path);
    mkdirSync(target, { mode: 0o700 });
    this.#directories.push(target);
  }

  async putFile(path: string, content: AsyncIterable<Uint8Array>, attributes: FileAttributes): Promise<void> {
    await writeFile(this.#pathOf(path), content, attributes, undefined, MODES);
  }

  async putSymlink(path: string): Promise<void> {
    throw new Error(`A skill has no symbolic links, but ${path} is one.`);
  }

  async remove(path: string): Promise<void> {
    throw new Error(`A version of a skill never changes, but ${path} was removed.`);
  }

  /** Removes the permission to write the directories. */
  seal(): void {
    for (const path of [...this.#directories, this.#options.path]) chmodSync(path, DIRECTORY_MODE);
  }

  #pathOf(path: string): string {
    const problem = pathProblem(path);
    if (problem !== undefined) throw new Error(`The path ${JSON.stringify(path)} is invalid: ${problem}`);
    return join(this.#options.path, path);
  }
}
