import { Refusal, refuse } from '../../../lib/errors.ts';
import { directory, type Node, type Placed, sameContent } from './node.ts';
import { above, conflictName, directoryOf, isBelow, moved } from './paths.ts';
import type { View } from './view.ts';

/** One change as it was asked for, with paths that are well-formed. */
export type Wish =
  | { kind: 'put'; path: string; node: Node; keepsTime: boolean }
  | { kind: 'directory'; path: string }
  | { kind: 'move'; from: string; to: string; overwrite: boolean }
  | { kind: 'remove'; path: string; ifExists: boolean };

export interface Conflict {
  path: string;
  /** Empty for what did not happen. */
  keptAs: string;
}

export interface Planned {
  /** What stands at the paths that were put, made or moved to, in the order of the wishes. */
  placed: Placed[];
  conflicts: Conflict[];
}

/**
 * Plans all wishes, one after the other, on a view. `base` is the version on which they were made; what somebody else
 * has changed since keeps its path. Refused with FILE_NOT_FOUND, NAME_TAKEN, INVALID_REQUEST; undefined when the view
 * does not know enough yet.
 */
export function plan(
  view: View,
  wishes: readonly Wish[],
  base: number | undefined,
  now: Date,
): Planned | undefined {
  const planner = new Planner(view, wishes, base, now);
  for (const wish of wishes) {
    try {
      planner.carryOut(wish);
    } catch (error) {
      // Refused, perhaps, for what is not known: the others may still say what they need.
      if (view.isComplete || !(error instanceof Refusal)) throw error;
    }
  }
  return view.isComplete ? { placed: planner.placed, conflicts: planner.conflicts } : undefined;
}

class Planner {
  readonly placed: Placed[] = [];
  readonly conflicts: Conflict[] = [];
  readonly #view: View;
  readonly #wishes: readonly Wish[];
  readonly #base: number | undefined;
  readonly #now: Date;
  /** Where that went which could not keep its path. */
  readonly #diverted = new Map<string, string>();

  /** Paths that are asked for: what is diverted to one of them would be replaced by what comes there later. */
  #asked: ReadonlySet<string> | undefined;

  constructor(view: View, wishes: readonly Wish[], base: number | undefined, now: Date) {
    this.#view = view;
    this.#wishes = wishes;
    this.#base = base;
    this.#now = now;
  }

  carryOut(wish: Wish): void {
    if (wish.kind === 'put') this.#put(wish.path, wish.node, wish.keepsTime);
    else if (wish.kind === 'directory') this.#place(this.#makeDirectory(this.#above(wish.path), wish.path));
    else if (wish.kind === 'move') this.#move(wish.from, wish.to, wish.overwrite);
    else this.#remove(wish.path, wish.ifExists);
  }

  #put(asked: string, wanted: Node, keepsTime: boolean): void {
    const path = this.#above(asked);
    const there = this.#view.get(path);
    const same = sameContent(there, wanted);
    if (this.#isTheirs(path) && !same) {
      this.#place(this.#divert(path, asked, wanted));
      return;
    }
    if (there?.kind === 'directory') throw taken(path);
    const isUntouched = same && there?.executable === wanted.executable && !keepsTime;
    if (!isUntouched) this.#view.put(path, wanted);
    this.#place(path);
  }

  /** Where the path leads, with all directories above it made. */
  #above(asked: string): string {
    let path = '';
    for (const part of [...above(asked), asked].map((one) => one.slice(one.lastIndexOf('/') + 1))) {
      if (path !== '') path = this.#makeDirectory(path, path);
      path = this.#current(path === '' ? part : `${path}/${part}`);
    }
    return path;
  }

  #makeDirectory(path: string, asked: string): string {
    const there = this.#view.get(path);
    if (there?.kind === 'directory') return path;
    if (there && this.#isTheirs(path)) return this.#divert(path, asked, directory(this.#now));
    if (there) throw taken(path);
    this.#view.put(path, directory(this.#now));
    return path;
  }

  #remove(asked: string, ifExists: boolean): void {
    const path = this.#existing(asked);
    const there = this.#view.get(path);
    if (!there) {
      if (ifExists || this.#isTheirs(path)) return;
      throw notFound(path);
    }
    if (there.kind === 'directory') this.#removeTree(path);
    else if (this.#isTheirs(path)) this.conflicts.push({ path, keptAs: '' });
    else this.#view.remove(path);
  }

  /** What others have changed in it stays, and so does what that is in. */
  #removeTree(root: string): void {
    const inside = this.#view.below(root).map(({ path }) => path);
    const theirs = [root, ...inside].filter((path) => this.#isTheirs(path));
    const kept = new Set(theirs.flatMap((path) => [path, ...above(path)]));
    for (const path of theirs) {
      if (!theirs.some((other) => isBelow(other, path))) this.conflicts.push({ path, keptAs: '' });
    }
    for (const path of [root, ...inside]) if (!kept.has(path)) this.#view.remove(path);
  }

  #move(askedFrom: string, askedTo: string, overwrite: boolean): void {
    const from = this.#existing(askedFrom);
    const source = this.#view.get(from);
    if (!source) throw notFound(from);
    if (isBelow(askedTo, askedFrom)) throw refuse('INVALID_REQUEST', `${from} cannot be moved into itself`);
    if (isBelow(askedFrom, askedTo)) {
      throw refuse('INVALID_REQUEST', `${from} cannot take the place of a directory that it is in`);
    }
    const to = this.#above(askedTo);
    const target = this.#view.get(to);
    const goes = this.#tree(from);
    const replaced = target ? this.#tree(to) : [];
    if ([...goes, ...replaced].some(({ path }) => this.#isTheirs(path)) || this.#isTheirs(to)) {
      this.conflicts.push({ path: from, keptAs: '' });
      this.#place(from);
      return;
    }
    if (target && !overwrite && from !== to) throw taken(to);
    for (const { path } of [...replaced, ...goes]) this.#view.remove(path);
    for (const { path, node } of goes) this.#view.put(moved(path, from, to), node);
    this.#place(to);
  }

  #tree(path: string): Placed[] {
    const node = this.#view.get(path);
    if (!node) return [];
    return node.kind === 'directory' ? [{ path, node }, ...this.#view.below(path)] : [{ path, node }];
  }

  /** Puts it beside the path that others have changed; it stays there for all that is still to come. */
  #divert(path: string, asked: string, node: Node): string {
    const base = this.#base ?? 0;
    for (let attempt = 1; ; attempt++) {
      const name = conflictName(path, base, attempt);
      if (this.#isAsked(name) || this.#view.get(name) !== undefined) continue;
      this.#view.put(name, node);
      this.#diverted.set(path, name);
      this.conflicts.push({ path: asked, keptAs: name });
      return name;
    }
  }

  #isAsked(path: string): boolean {
    this.#asked ??= new Set(
      this.#wishes.flatMap((wish) => {
        const asked = wish.kind === 'move' ? wish.to : wish.path;
        return [asked, ...above(asked)];
      }),
    );
    return this.#asked.has(path);
  }

  #isTheirs(path: string): boolean {
    return this.#base !== undefined && this.#view.changedSince(path, this.#base);
  }

  #current(path: string): string {
    return this.#diverted.get(path) ?? path;
  }

  /** Where something is by now that may have been diverted. */
  #existing(asked: string): string {
    if (this.#diverted.size === 0) return asked;
    const parent = directoryOf(asked);
    const name = asked.slice(parent === '' ? 0 : parent.length + 1);
    return this.#current(parent === '' ? name : `${this.#existing(parent)}/${name}`);
  }

  #place(path: string): void {
    const node = this.#view.get(path);
    if (node) this.placed.push({ path, node });
  }
}

function taken(path: string): Refusal {
  return refuse('NAME_TAKEN', `${path} is there already`);
}

function notFound(path: string): Refusal {
  return refuse('FILE_NOT_FOUND', `there is no ${path}`);
}
