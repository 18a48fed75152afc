import type { ScanResult, TreeChange, TreeIndex, TreeIndexEntry } from '../../sandbox/workspace-tree.ts';
import type { CopySpace } from '../space/space-limits.ts';
import { isUnchanged } from './inspect.ts';
import type { OpenDirectory } from './open-directory.ts';
import { type WalkOptions, walk } from './walk.ts';

export interface ScanOptions extends Pick<WalkOptions, 'nowNs' | 'maxFiles'> {
  /** Receives the space that the tree uses. */
  measured(space: CopySpace): void;
}

/** Compares a tree with its index, and updates the index to the current state. */
export async function scan(
  root: OpenDirectory,
  index: TreeIndex,
  { measured, ...limits }: ScanOptions,
): Promise<ScanResult> {
  const current: TreeIndex = new Map();
  const removals = new Set<string>();
  const additions: TreeChange[] = [];
  const skipped: ScanResult['skipped'] = [];
  let allocated = 0;
  await walk(root, {
    ...limits,
    found(path, entry, { modifiedAt, allocatedBytes }) {
      allocated += allocatedBytes;
      current.set(path, entry);
      const before = index.get(path);
      if (before && isUnchanged(before, entry)) return;
      if (before && before.kind !== entry.kind) removals.add(path);
      additions.push(change(path, entry, modifiedAt));
    },
    skipped: (path, reason) => skipped.push({ path, reason }),
  });
  for (const path of index.keys()) if (!current.has(path)) removals.add(path);
  const changes: TreeChange[] = [];
  for (const path of [...removals].sort())
    if (!isBelowAny(path, removals)) changes.push({ kind: 'remove', path });
  replaceIndex(index, current);
  measured({ bytes: allocated, entries: current.size + skipped.length });
  return { changes: changes.concat(additions), skipped };
}

/** Replaces the index with the current state of the tree. */
export async function buildIndex(
  root: OpenDirectory,
  index: TreeIndex,
  { measured, ...limits }: ScanOptions,
): Promise<void> {
  const current: TreeIndex = new Map();
  let allocated = 0;
  await walk(root, {
    ...limits,
    found(path, entry, { allocatedBytes }) {
      allocated += allocatedBytes;
      current.set(path, entry);
    },
    skipped() {},
  });
  replaceIndex(index, current);
  measured({ bytes: allocated, entries: current.size });
}

/** Thrown to end a walk early. */
const ENOUGH = Symbol('enough');

/** Returns up to `max` paths that are new or differ from the index, and whether there are more. */
export async function listChanges(
  root: OpenDirectory,
  index: TreeIndex,
  max: number,
): Promise<{ paths: string[]; hasMore: boolean }> {
  const paths: string[] = [];
  const options = { nowNs: 0n, maxFiles: Number.POSITIVE_INFINITY, skipped() {} };
  try {
    await walk(root, {
      ...options,
      found(path, entry) {
        const before = index.get(path);
        if (before && isUnchanged({ ...before, racy: false }, entry)) return;
        if (paths.length === max) throw ENOUGH;
        paths.push(path);
      },
    });
    return { paths, hasMore: false };
  } catch (error) {
    if (error !== ENOUGH) throw error;
    return { paths, hasMore: true };
  }
}

function change(
  path: string,
  { kind, size, executable, target }: TreeIndexEntry,
  modifiedAt: Date,
): TreeChange {
  switch (kind) {
    case 'file':
      return { kind, path, size, executable, modifiedAt };
    case 'symlink':
      return { kind, path, target };
    case 'directory':
      return { kind, path };
  }
}

/** Returns whether a parent directory of the path is removed, which removes the path, too. */
function isBelowAny(path: string, removals: ReadonlySet<string>): boolean {
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1))
    if (removals.has(path.slice(0, end))) return true;
  return false;
}

function replaceIndex(index: TreeIndex, current: TreeIndex): void {
  index.clear();
  for (const [path, entry] of current) index.set(path, entry);
}
