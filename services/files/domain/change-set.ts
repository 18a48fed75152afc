import { refuse } from '../../../lib/errors.ts';
import { ancestorsOf } from '../../../lib/paths.ts';
import type { Node } from './node.ts';
import type { WorkspaceView } from './workspace-view.ts';

/** An entry row to be written. A row without a node hides the entry of a parent workspace at this path. */
interface EntryUpdate {
  path: string;
  node: Node | undefined;
}

/** One change of a path, for the change feed and the events of sessions. */
interface EntryChange {
  kind: 'created' | 'modified' | 'deleted';
  path: string;
  /** Undefined for a deletion. The deletion of a directory stands for the deletion of everything in it. */
  node: Node | undefined;
}

export interface WorkspaceTotals {
  files: number;
  directories: number;
  bytes: number;
}

/** The row changes, feed entries and change of totals that lead a workspace to its next version. */
export interface ChangeSet {
  /** Paths whose current row, in the workspace itself, is closed. */
  closedPaths: string[];
  rows: EntryUpdate[];
  /** In sequence order: deletions first, then creations and modifications, each sorted by path. */
  changes: EntryChange[];
  /** The change of the totals; negative where the workspace shrinks. */
  delta: WorkspaceTotals;
}

export function changeSetOf(view: WorkspaceView): ChangeSet {
  const changeSet: ChangeSet = {
    closedPaths: [],
    rows: [],
    changes: [],
    delta: { files: 0, directories: 0, bytes: 0 },
  };
  const deleted = new Set<string>();
  const written: EntryChange[] = [];
  for (const { path, loaded, before, after } of view.differences()) {
    if (loaded.own) changeSet.closedPaths.push(path);
    if (after || loaded.inherited) changeSet.rows.push({ path, node: after });
    addTotals(changeSet.delta, after, 1);
    addTotals(changeSet.delta, before, -1);
    const isReplaced = isDirectory(before) !== isDirectory(after);
    if (before && (!after || isReplaced)) {
      // The deletion of a directory covers everything in it.
      if (!ancestorsOf(path).some((ancestor) => deleted.has(ancestor)))
        changeSet.changes.push({ kind: 'deleted', path, node: undefined });
      deleted.add(path);
    }
    if (after) written.push({ kind: before && !isReplaced ? 'modified' : 'created', path, node: after });
  }
  changeSet.changes.push(...written);
  return changeSet;
}

export interface WorkspaceLimits {
  maxFiles: number;
  maxBytes: number;
}

export function sumOf(one: WorkspaceTotals, other: WorkspaceTotals): WorkspaceTotals {
  return {
    files: one.files + other.files,
    directories: one.directories + other.directories,
    bytes: one.bytes + other.bytes,
  };
}

/**
 * Returns the totals after the change. Refused with QUOTA_EXCEEDED when a total grows beyond its limit; a change that
 * shrinks a total is always allowed.
 */
export function checkQuota(
  before: WorkspaceTotals,
  delta: WorkspaceTotals,
  { maxFiles, maxBytes }: WorkspaceLimits,
): WorkspaceTotals {
  const after = sumOf(before, delta);
  const requireWithin = (total: keyof WorkspaceTotals, max: number) => {
    if (delta[total] <= 0 || after[total] <= max) return;
    throw refuse(
      'QUOTA_EXCEEDED',
      `The workspace would hold ${after[total]} ${total}; its limit is ${max}. Delete files first.`,
    );
  };
  requireWithin('files', maxFiles);
  requireWithin('directories', maxFiles);
  requireWithin('bytes', maxBytes);
  return after;
}

function isDirectory(node: Node | undefined): boolean {
  return node?.kind === 'directory';
}

function addTotals(totals: WorkspaceTotals, node: Node | undefined, sign: 1 | -1): void {
  if (!node) return;
  if (isDirectory(node)) totals.directories += sign;
  else totals.files += sign;
  totals.bytes += sign * node.size;
}
