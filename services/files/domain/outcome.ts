import { refuse } from '../../../lib/errors.ts';
import type { Node } from './node.ts';
import { above } from './paths.ts';
import type { View } from './view.ts';

/** A row that is to be written: without a node it hides what a parent shows. */
export interface NewRow {
  path: string;
  node: Node | undefined;
}

/** What others are told. */
export interface Told {
  kind: 'created' | 'modified' | 'deleted';
  path: string;
  /** Undefined of a deletion, which is one of everything in it. */
  node: Node | undefined;
}

export interface Amount {
  files: number;
  directories: number;
  bytes: number;
}

/** What a plan makes of a workspace. */
export interface Outcome {
  /** Paths whose own rows end. */
  closed: string[];
  rows: NewRow[];
  /** In the order of their numbers: what goes, then what comes, by path. */
  told: Told[];
  /** What there is more of. */
  more: Amount;
}

export function outcomeOf(view: View): Outcome {
  const outcome: Outcome = { closed: [], rows: [], told: [], more: { files: 0, directories: 0, bytes: 0 } };
  const gone = new Set<string>();
  const come: Told[] = [];
  for (const { path, known, before, after } of view.differences()) {
    if (known.own) outcome.closed.push(path);
    if (after || known.inherited) outcome.rows.push({ path, node: after });
    count(outcome.more, after, 1);
    count(outcome.more, before, -1);
    const isAnother = isDirectory(before) !== isDirectory(after);
    if (before && (!after || isAnother)) {
      // Whatever is in a directory goes with it.
      if (!above(path).some((one) => gone.has(one)))
        outcome.told.push({ kind: 'deleted', path, node: undefined });
      gone.add(path);
    }
    if (after) come.push({ kind: before && !isAnother ? 'modified' : 'created', path, node: after });
  }
  outcome.told.push(...come);
  return outcome;
}

export interface Limits {
  maxFiles: number;
  maxBytes: number;
}

/** Refused with QUOTA_EXCEEDED when there would be more than there may be; to take away is always allowed. */
export function checkQuota(before: Amount, more: Amount, { maxFiles, maxBytes }: Limits): Amount {
  const after = {
    files: before.files + more.files,
    directories: before.directories + more.directories,
    bytes: before.bytes + more.bytes,
  };
  const over = (what: 'files' | 'directories' | 'bytes', most: number) => {
    if (more[what] <= 0 || after[what] <= most) return;
    throw refuse(
      'QUOTA_EXCEEDED',
      `the workspace would hold ${after[what]} ${what}, and it may hold ${most}`,
    );
  };
  over('files', maxFiles);
  over('directories', maxFiles);
  over('bytes', maxBytes);
  return after;
}

function isDirectory(node: Node | undefined): boolean {
  return node?.kind === 'directory';
}

function count(amount: Amount, node: Node | undefined, sign: 1 | -1): void {
  if (!node) return;
  if (isDirectory(node)) amount.directories += sign;
  else amount.files += sign;
  amount.bytes += sign * node.size;
}
