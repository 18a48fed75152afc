import { type Node, type Placed, sameNode } from './node.ts';
import { above, byBytes, directoryOf, isBelow } from './paths.ts';

/** What is stored about a path. */
export interface Known {
  /** The row of the workspace's own that stands there now; without a node it hides what a parent shows. */
  own?: { node: Node | undefined; fromVersion: number } | undefined;
  /** What its parents show there. */
  inherited?: Node | undefined;
  /** The last version in which something there was replaced or removed; 0 for never. */
  closedVersion: number;
}

/** What a plan has asked about and nobody has looked up yet. */
export interface Needs {
  paths: string[];
  /** Directories with everything in them. */
  trees: string[];
}

/**
 * A workspace as far as it is known, with what is planned on top of it. Whoever asks about a path that is not known is
 * told that nothing is there, and the path is noted among the needs: a plan made so far holds only when there are none.
 */
export class View {
  readonly #known: ReadonlyMap<string, Known>;
  /** Directories of which everything is known. */
  readonly #trees: ReadonlySet<string>;
  readonly #planned = new Map<string, Node | undefined>();
  /** What may be in a directory. */
  readonly #members = new Map<string, Set<string>>();
  readonly #needs = { paths: new Set<string>(), trees: new Set<string>() };

  constructor(known: ReadonlyMap<string, Known>, trees: ReadonlySet<string>) {
    this.#known = known;
    this.#trees = trees;
    for (const path of known.keys()) this.#note(path);
  }

  get(path: string): Node | undefined {
    if (this.#planned.has(path)) return this.#planned.get(path);
    return this.#stored(path);
  }

  /** Everything in a directory that is there, at any depth, in one order; what is in something comes after it. */
  below(directory: string): Placed[] {
    if (!this.#coversTree(directory)) this.#needs.trees.add(directory);
    const found: Placed[] = [];
    const visit = (path: string) => {
      for (const member of [...(this.#members.get(path) ?? [])].sort(byBytes)) {
        const node = this.get(member);
        if (node) found.push({ path: member, node });
        visit(member);
      }
    };
    visit(directory);
    return found;
  }

  put(path: string, node: Node): void {
    this.#note(path);
    this.#planned.set(path, node);
  }

  remove(path: string): void {
    this.#planned.set(path, undefined);
  }

  /** Whether somebody else has changed what is at the path since that version; of what this plan has put there, nobody. */
  changedSince(path: string, version: number): boolean {
    if (this.#planned.has(path)) return false;
    const known = this.#known.get(path);
    // That nothing is there says nothing about who has removed it.
    if (!known) this.#needs.paths.add(path);
    return Math.max(known?.own?.fromVersion ?? 0, known?.closedVersion ?? 0) > version;
  }

  get needs(): Needs {
    return { paths: [...this.#needs.paths], trees: [...this.#needs.trees] };
  }

  get isComplete(): boolean {
    return this.#needs.paths.size === 0 && this.#needs.trees.size === 0;
  }

  /** What is planned to be otherwise than it is stored, in the order of the paths. */
  differences(): { path: string; known: Known; before: Node | undefined; after: Node | undefined }[] {
    const all = Array.from(this.#planned, ([path, after]) => {
      const known = this.#known.get(path) ?? { closedVersion: 0 };
      return { path, known, before: effective(known), after };
    });
    return all
      .filter(({ before, after }) => !sameNode(before, after))
      .sort((one, other) => byBytes(one.path, other.path));
  }

  #stored(path: string): Node | undefined {
    const known = this.#known.get(path);
    if (!known && !this.#isCovered(path)) this.#needs.paths.add(path);
    return known && effective(known);
  }

  #isCovered(path: string): boolean {
    return this.#trees.has('') || above(path).some((one) => this.#trees.has(one));
  }

  #coversTree(directory: string): boolean {
    return this.#trees.has(directory) || this.#isCovered(directory);
  }

  #note(path: string): void {
    const directory = directoryOf(path);
    const members = this.#members.get(directory);
    if (members) members.add(path);
    else this.#members.set(directory, new Set([path]));
  }
}

export function effective(known: Known): Node | undefined {
  return known.own ? known.own.node : known.inherited;
}

/** Those that no other one of them has in it. */
export function outermost(directories: readonly string[]): string[] {
  const kept: string[] = [];
  for (const one of directories.toSorted(byBytes)) {
    const last = kept.at(-1);
    if (last === undefined || !(one === last || isBelow(one, last))) kept.push(one);
  }
  return kept;
}
