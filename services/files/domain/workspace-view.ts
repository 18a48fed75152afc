import { ancestorsOf } from '../../../lib/paths.ts';
import { type Node, sameNode, type TreeEntry } from './node.ts';
import { compareByBytes, isBelow, parentOf } from './paths.ts';

/** The stored state of a path. */
export interface LoadedPath {
  /** The workspace's own current row at the path; a row without a node hides the entry of a parent. */
  own?: { node: Node | undefined; fromVersion: number } | undefined;
  /** The entry that the parent workspaces show at the path. */
  inherited?: Node | undefined;
  /** The newest version in which an entry at the path was replaced or removed; 0 for never. */
  closedVersion: number;
}

/** The state by path. A path without a stored entry has a `LoadedPath` without rows. */
type LoadedPaths = ReadonlyMap<string, LoadedPath>;

/** Paths and directories that the planner has read and that are not loaded yet. */
interface MissingPaths {
  paths: string[];
  /** Directories that have to be loaded with everything in them. */
  trees: string[];
}

/**
 * The loaded part of a workspace with planned changes on top. A path that is not loaded reads as absent and is added to
 * `missing`, so a plan is valid only when nothing is missing at its end.
 */
export class WorkspaceView {
  readonly #loaded: LoadedPaths;
  /** Directories that are loaded with everything in them. */
  readonly #trees: ReadonlySet<string>;
  readonly #planned = new Map<string, Node | undefined>();
  /** The loaded and planned paths directly in each directory. */
  readonly #members = new Map<string, Set<string>>();
  readonly #missing = { paths: new Set<string>(), trees: new Set<string>() };

  constructor(loaded: LoadedPaths, trees: ReadonlySet<string>) {
    this.#loaded = loaded;
    this.#trees = trees;
    for (const path of loaded.keys()) this.#addMember(path);
  }

  get(path: string): Node | undefined {
    if (this.#planned.has(path)) return this.#planned.get(path);
    return this.#stored(path);
  }

  /** All entries in a directory, at any depth, in a fixed order; a directory comes before its entries. */
  below(directory: string): TreeEntry[] {
    if (!this.#coversTree(directory)) this.#missing.trees.add(directory);
    const found: TreeEntry[] = [];
    const visit = (path: string) => {
      for (const member of [...(this.#members.get(path) ?? [])].sort(compareByBytes)) {
        const node = this.get(member);
        if (node) found.push({ path: member, node });
        visit(member);
      }
    };
    visit(directory);
    return found;
  }

  put(path: string, node: Node): void {
    this.#addMember(path);
    this.#planned.set(path, node);
  }

  remove(path: string): void {
    this.#planned.set(path, undefined);
  }

  /** Returns whether the stored entry at the path changed after `version`. False for a path that this plan has changed. */
  changedSince(path: string, version: number): boolean {
    if (this.#planned.has(path)) return false;
    const loaded = this.#loaded.get(path);
    // A loaded directory covers its absent paths, but not the version in which an absent path was removed.
    if (!loaded) this.#missing.paths.add(path);
    return Math.max(loaded?.own?.fromVersion ?? 0, loaded?.closedVersion ?? 0) > version;
  }

  get missing(): MissingPaths {
    return { paths: [...this.#missing.paths], trees: [...this.#missing.trees] };
  }

  get isComplete(): boolean {
    return this.#missing.paths.size === 0 && this.#missing.trees.size === 0;
  }

  /** The paths whose planned node differs from the stored one, sorted by path. */
  differences(): { path: string; loaded: LoadedPath; before: Node | undefined; after: Node | undefined }[] {
    const all = Array.from(this.#planned, ([path, after]) => {
      const loaded = this.#loaded.get(path) ?? { closedVersion: 0 };
      return { path, loaded, before: effectiveNode(loaded), after };
    });
    return all
      .filter(({ before, after }) => !sameNode(before, after))
      .sort((one, other) => compareByBytes(one.path, other.path));
  }

  #stored(path: string): Node | undefined {
    const loaded = this.#loaded.get(path);
    if (!loaded && !this.#isCovered(path)) this.#missing.paths.add(path);
    return loaded && effectiveNode(loaded);
  }

  #isCovered(path: string): boolean {
    return this.#trees.has('') || ancestorsOf(path).some((one) => this.#trees.has(one));
  }

  #coversTree(directory: string): boolean {
    return this.#trees.has(directory) || this.#isCovered(directory);
  }

  #addMember(path: string): void {
    const directory = parentOf(path);
    const members = this.#members.get(directory);
    if (members) members.add(path);
    else this.#members.set(directory, new Set([path]));
  }
}

export function effectiveNode({ own, inherited }: LoadedPath): Node | undefined {
  return own ? own.node : inherited;
}

/** The directories of the list that are not in another directory of the list. */
export function outermostOf(directories: readonly string[]): string[] {
  const outermost: string[] = [];
  for (const one of directories.toSorted(compareByBytes)) {
    const last = outermost.at(-1);
    if (last === undefined || !(one === last || isBelow(one, last))) outermost.push(one);
  }
  return outermost;
}
