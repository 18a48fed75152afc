import { createHash } from 'node:crypto';
import type { Content, Entry } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { TreeChange, WorkspaceTree } from '../sandbox/tree.ts';

interface Fact {
  size: number;
  sha256: string;
  executable: boolean;
}

type FileChange = Extract<TreeChange, { kind: 'file' }>;

/**
 * What the files of a workspace hold, by path. A scan names every file that may have changed; one that holds what it
 * held is no change, and must not get into the way of somebody else's.
 */
export class Known {
  readonly #files = new Map<string, Fact>();
  /** What is directly in a directory, as far as there are files in it; by its path, which is empty for the first. */
  readonly #inside = new Map<string, Set<string>>();

  clear(): void {
    this.#files.clear();
    this.#inside.clear();
  }

  /** A file that has to be there; undefined when there is none. */
  get any(): string | undefined {
    const [path] = this.#files.keys();
    return path;
  }

  /** Something stands at a path. */
  put({ path, kind, size, sha256, executable }: Entry): void {
    if (kind === 'file') this.#put(path, { size, sha256, executable });
    else this.#files.delete(path);
  }

  /** A path is gone, with all below it. */
  remove(path: string): void {
    this.#inside.get(above(path))?.delete(path);
    this.#drop(path);
  }

  /** Changes were kept, with these contents of their files, in their order. */
  kept(changes: readonly TreeChange[], contents: readonly Content[]): void {
    let files = 0;
    for (const change of changes) {
      const { kind, path } = change;
      if (kind !== 'file') {
        this.remove(path);
        continue;
      }
      const { size, executable } = change;
      this.#put(path, { size, executable, sha256: contents[files++]?.sha256 ?? '' });
    }
  }

  #put(path: string, fact: Fact): void {
    this.#files.set(path, fact);
    for (let name = path; name !== ''; name = above(name)) {
      const siblings = this.#inside.get(above(name));
      if (siblings?.has(name)) return;
      if (siblings) siblings.add(name);
      else this.#inside.set(above(name), new Set([name]));
    }
  }

  #drop(path: string): void {
    this.#files.delete(path);
    for (const name of this.#inside.get(path) ?? []) this.#drop(name);
    this.#inside.delete(path);
  }

  /** The changes without those that are none. */
  async real(changes: readonly TreeChange[], tree: WorkspaceTree): Promise<TreeChange[]> {
    const real: TreeChange[] = [];
    const removed = new Set<string>();
    for (const change of changes) {
      if (change.kind === 'remove') removed.add(change.path);
      const isNone =
        change.kind === 'file' && !removed.has(change.path) && (await this.#isSame(change, tree));
      if (!isNone) real.push(change);
    }
    return real;
  }

  async #isSame({ path, size, executable }: FileChange, tree: WorkspaceTree): Promise<boolean> {
    const known = this.#files.get(path);
    if (!known || known.size !== size || known.executable !== executable) return false;
    const hash = createHash('sha256');
    for await (const chunk of tree.read(path)) hash.update(chunk);
    return hash.digest('hex') === known.sha256;
  }
}

const above = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));
