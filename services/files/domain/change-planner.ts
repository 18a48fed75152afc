import { Refusal, refuse } from '../../../lib/errors.ts';
import { ancestorsOf } from '../../../lib/paths.ts';
import { directory, type Node, sameContent, type TreeEntry } from './node.ts';
import { conflictName, isBelow, movedPath, parentOf } from './paths.ts';
import type { WorkspaceView } from './workspace-view.ts';

/** One change of a request, with well-formed paths. */
export type RequestedChange =
  | { kind: 'put'; path: string; node: Node; keepsTime: boolean; required?: RequiredState | undefined }
  | { kind: 'directory'; path: string }
  | { kind: 'move'; from: string; to: string; overwrite: boolean }
  | { kind: 'remove'; path: string; ifExists: boolean; required?: RequiredState | undefined };

/** The state that a path must have before a change. */
export interface RequiredState {
  /** True: the path is a file. False: nothing is at the path. */
  exists: boolean;
  anyContent: boolean;
  /** Without `anyContent`: the allowed digests of the file. */
  sha256: readonly string[];
}

export interface Conflict {
  path: string;
  /** The path of the conflict copy; empty when the change was left out. */
  keptAs: string;
}

export interface PlanResult {
  /** The entries at the paths that were put, made or moved to, in the order of the requested changes. */
  entries: TreeEntry[];
  conflicts: Conflict[];
  earlier: EarlierParts;
}

/** The paths that the plans of earlier parts of a request pass on to the plan of the next part. */
export interface EarlierParts {
  /** The conflict copies by the path that they could not take. */
  diverted: ReadonlyMap<string, string>;
  /**
   * Entries of others whose content the request repeats. The plan sets their time and mode, and they still belong to the
   * others: a later change of the request must not move, replace or remove them.
   */
  repeated: ReadonlySet<string>;
}

export const NO_EARLIER_PARTS: EarlierParts = { diverted: new Map(), repeated: new Set() };

interface PlanOptions {
  /** The version that the caller saw; undefined when the changes apply to the current version. */
  base: number | undefined;
  now: Date;
  /** The paths in all parts of the request, without those of sources of moves. Called only when there is a conflict. */
  requestedPaths(): Iterable<string>;
  earlier: EarlierParts;
}

/**
 * Plans the changes of one part of a request, one after the other, on a view that shows the earlier parts. An entry that
 * another user has changed since the base version keeps its path, and the requested change becomes a conflict. Returns
 * undefined when the view lacks paths that the plan depends on. Refused with FILE_NOT_FOUND, NAME_TAKEN, VERSION_CONFLICT,
 * INVALID_REQUEST.
 */
export function planChanges(
  view: WorkspaceView,
  requested: readonly RequestedChange[],
  options: PlanOptions,
): PlanResult | undefined {
  const planner = new ChangePlanner(view, options);
  for (const change of requested) {
    try {
      planner.apply(change);
    } catch (error) {
      // The refusal may be due to a path that is not loaded. The other changes still add the paths that they read.
      if (view.isComplete || !(error instanceof Refusal)) throw error;
    }
  }
  return view.isComplete ? planner.result : undefined;
}

class ChangePlanner {
  readonly #entries: TreeEntry[] = [];
  readonly #conflicts: Conflict[] = [];
  readonly #view: WorkspaceView;
  readonly #options: PlanOptions;
  readonly #base: number | undefined;
  readonly #now: Date;
  readonly #diverted: Map<string, string>;
  readonly #repeated: Set<string>;

  /** The paths of the request with their parents. A conflict copy avoids them, because a later change would replace it. */
  #requestedPaths: ReadonlySet<string> | undefined;

  constructor(view: WorkspaceView, options: PlanOptions) {
    this.#view = view;
    this.#options = options;
    this.#base = options.base;
    this.#now = options.now;
    this.#diverted = new Map(options.earlier.diverted);
    this.#repeated = new Set(options.earlier.repeated);
  }

  get result(): PlanResult {
    const earlier = { diverted: this.#diverted, repeated: this.#repeated };
    return { entries: this.#entries, conflicts: this.#conflicts, earlier };
  }

  apply(change: RequestedChange): void {
    if (change.kind === 'put') this.#put(change);
    else if (change.kind === 'directory')
      this.#addEntry(this.#makeDirectory(this.#resolveWithParents(change.path), change.path));
    else if (change.kind === 'move') this.#move(change.from, change.to, change.overwrite);
    else this.#remove(change);
  }

  #put({ path: requested, node, keepsTime, required }: RequestedChange & { kind: 'put' }): void {
    const path = this.#resolveWithParents(requested);
    const existing = this.#view.get(path);
    if (required) requireState(path, existing, required);
    const same = sameContent(existing, node);
    if (this.#isChangedByOthers(path) && !same) {
      this.#addEntry(this.#divert(path, requested, node));
      return;
    }
    if (existing?.kind === 'directory') throw nameTaken(path);
    const isUnchanged = same && existing?.executable === node.executable && !keepsTime;
    if (!isUnchanged) {
      if (this.#isChangedByOthers(path)) this.#repeated.add(path);
      this.#view.put(path, node);
    }
    this.#addEntry(path);
  }

  /** Returns the path after earlier diversions, and makes all directories above it. */
  #resolveWithParents(requested: string): string {
    let path = '';
    for (const part of requested.split('/')) {
      if (path !== '') path = this.#makeDirectory(path, path);
      path = this.#diversionOf(path === '' ? part : `${path}/${part}`);
    }
    return path;
  }

  #makeDirectory(path: string, requested: string): string {
    const existing = this.#view.get(path);
    if (existing?.kind === 'directory') return path;
    if (existing && this.#isChangedByOthers(path)) return this.#divert(path, requested, directory(this.#now));
    if (existing) throw nameTaken(path);
    this.#view.put(path, directory(this.#now));
    return path;
  }

  #remove({ path: requested, ifExists, required }: RequestedChange & { kind: 'remove' }): void {
    const path = this.#resolve(requested);
    const existing = this.#view.get(path);
    if (!existing) {
      if (ifExists || this.#isChangedByOthers(path)) return;
      throw notFound(path);
    }
    if (required) {
      if (existing.kind !== 'file') throw withoutTag(path, existing.kind);
      requireState(path, existing, required);
    }
    if (existing.kind === 'directory') this.#removeTree(path);
    else if (this.#isChangedByOthers(path)) this.#conflicts.push({ path, keptAs: '' });
    else this.#view.remove(path);
  }

  /** Removes a directory, except for the entries that others have changed and the directories that hold them. */
  #removeTree(root: string): void {
    const below = this.#view.below(root).map(({ path }) => path);
    const changedByOthers = [root, ...below].filter((path) => this.#isChangedByOthers(path));
    const unremovable = new Set(changedByOthers.flatMap((path) => [path, ...ancestorsOf(path)]));
    for (const path of changedByOthers) {
      if (!changedByOthers.some((other) => isBelow(other, path))) this.#conflicts.push({ path, keptAs: '' });
    }
    for (const path of [root, ...below]) if (!unremovable.has(path)) this.#view.remove(path);
  }

  #move(requestedFrom: string, requestedTo: string, overwrite: boolean): void {
    const from = this.#resolve(requestedFrom);
    const source = this.#view.get(from);
    if (!source) throw notFound(from);
    if (isBelow(requestedTo, requestedFrom))
      throw refuse('INVALID_REQUEST', `The directory \`${from}\` cannot be moved into itself.`);
    if (isBelow(requestedFrom, requestedTo))
      throw refuse('INVALID_REQUEST', `\`${from}\` cannot replace a directory that contains it.`);
    const to = this.#resolveWithParents(requestedTo);
    const target = this.#view.get(to);
    const moving = this.#tree(from);
    const replaced = target ? this.#tree(to) : [];
    const isConflict =
      [...moving, ...replaced].some(({ path }) => this.#isChangedByOthers(path)) ||
      this.#isChangedByOthers(to);
    if (isConflict) {
      this.#conflicts.push({ path: from, keptAs: '' });
      this.#addEntry(from);
      return;
    }
    if (target && !overwrite && from !== to) throw nameTaken(to);
    for (const { path } of [...replaced, ...moving]) this.#view.remove(path);
    for (const { path, node } of moving) this.#view.put(movedPath(path, from, to), node);
    this.#addEntry(to);
  }

  #tree(path: string): TreeEntry[] {
    const node = this.#view.get(path);
    if (!node) return [];
    return node.kind === 'directory' ? [{ path, node }, ...this.#view.below(path)] : [{ path, node }];
  }

  /** Puts a conflict copy beside a path that others have changed. Later changes of the request use that copy. */
  #divert(path: string, requested: string, node: Node): string {
    const base = this.#base ?? 0;
    for (let attempt = 1; ; attempt++) {
      const name = conflictName(path, base, attempt);
      if (this.#isRequested(name) || this.#view.get(name) !== undefined) continue;
      this.#view.put(name, node);
      this.#diverted.set(path, name);
      this.#conflicts.push({ path: requested, keptAs: name });
      return name;
    }
  }

  #isRequested(path: string): boolean {
    this.#requestedPaths ??= withAncestors(this.#options.requestedPaths());
    return this.#requestedPaths.has(path);
  }

  #isChangedByOthers(path: string): boolean {
    if (this.#repeated.has(path)) return true;
    return this.#base !== undefined && this.#view.changedSince(path, this.#base);
  }

  #diversionOf(path: string): string {
    return this.#diverted.get(path) ?? path;
  }

  /** Returns the path after earlier diversions of the request. */
  #resolve(requested: string): string {
    if (this.#diverted.size === 0) return requested;
    const parent = parentOf(requested);
    const name = requested.slice(parent === '' ? 0 : parent.length + 1);
    return this.#diversionOf(parent === '' ? name : `${this.#resolve(parent)}/${name}`);
  }

  #addEntry(path: string): void {
    const node = this.#view.get(path);
    if (node) this.#entries.push({ path, node });
  }
}

function withAncestors(paths: Iterable<string>): Set<string> {
  const all = new Set<string>();
  for (const path of paths) for (const one of [path, ...ancestorsOf(path)]) all.add(one);
  return all;
}

function requireState(path: string, node: Node | undefined, required: RequiredState): void {
  if (!required.exists) {
    if (node) throw refuse('VERSION_CONFLICT', `\`${path}\` already exists.`);
    return;
  }
  if (node?.kind !== 'file') throw refuse('VERSION_CONFLICT', `There is no file \`${path}\`.`);
  if (!required.anyContent && !required.sha256.includes(node.sha256))
    throw refuse('VERSION_CONFLICT', `The SHA-256 of \`${path}\` is ${node.sha256}, which was not expected.`);
}

function withoutTag(path: string, kind: Node['kind']): Refusal {
  return refuse('INVALID_REQUEST', `\`${path}\` is a ${kind}. Only files have an ETag. Remove If-Match.`);
}

function nameTaken(path: string): Refusal {
  return refuse('NAME_TAKEN', `\`${path}\` already exists.`);
}

function notFound(path: string): Refusal {
  return refuse('FILE_NOT_FOUND', `Unknown file or directory \`${path}\`.`);
}
