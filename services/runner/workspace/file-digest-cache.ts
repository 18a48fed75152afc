import { createHash } from 'node:crypto';
import type { Content, Entry } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { TreeChange, WorkspaceTree } from '../sandbox/workspace-tree.ts';

interface FileDigest {
  size: number;
  sha256: string;
  executable: boolean;
}

type FileChange = Extract<TreeChange, { kind: 'file' }>;

/**
 * The digests of the files in a workspace copy, by path. A scan lists every file that may have changed. A file with the
 * same content is no change: committing it would conflict with changes of other writers.
 */
export class FileDigestCache {
  readonly #files = new Map<string, FileDigest>();
  /** The direct children of each directory that contains files, by path; the root has the empty path. */
  readonly #children = new Map<string, Set<string>>();

  clear(): void {
    this.#files.clear();
    this.#children.clear();
  }

  /** The path of a file that must exist in the tree; undefined when there is none. */
  get anyPath(): string | undefined {
    const [path] = this.#files.keys();
    return path;
  }

  /** Records an entry that was written to the tree. */
  put({ path, kind, size, sha256, executable }: Entry): void {
    if (kind === 'file') this.#put(path, { size, sha256, executable });
    else this.#files.delete(path);
  }

  /** Removes a path and everything below it. */
  remove(path: string): void {
    this.#children.get(parentOf(path))?.delete(path);
    this.#drop(path);
  }

  /** Records committed changes. `contents` are the contents of their files, in order. */
  recordCommit(changes: readonly TreeChange[], contents: readonly Content[]): void {
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

  /** Returns the changes without files whose content and executable bit are the same as before. */
  async actualChanges(changes: readonly TreeChange[], tree: WorkspaceTree): Promise<TreeChange[]> {
    const actual: TreeChange[] = [];
    const removed = new Set<string>();
    for (const change of changes) {
      if (change.kind === 'remove') removed.add(change.path);
      const isUnchanged =
        change.kind === 'file' && !removed.has(change.path) && (await this.#isSame(change, tree));
      if (!isUnchanged) actual.push(change);
    }
    return actual;
  }

  #put(path: string, digest: FileDigest): void {
    this.#files.set(path, digest);
    for (let name = path; name !== ''; name = parentOf(name)) {
      const siblings = this.#children.get(parentOf(name));
      if (siblings?.has(name)) return;
      if (siblings) siblings.add(name);
      else this.#children.set(parentOf(name), new Set([name]));
    }
  }

  #drop(path: string): void {
    this.#files.delete(path);
    for (const name of this.#children.get(path) ?? []) this.#drop(name);
    this.#children.delete(path);
  }

  async #isSame({ path, size, executable }: FileChange, tree: WorkspaceTree): Promise<boolean> {
    const known = this.#files.get(path);
    if (!known || known.size !== size || known.executable !== executable) return false;
    const hash = createHash('sha256');
    for await (const chunk of tree.read(path)) hash.update(chunk);
    return hash.digest('hex') === known.sha256;
  }
}

const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));
