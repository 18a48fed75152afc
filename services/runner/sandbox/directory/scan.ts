import type { Scan, Seen, TreeChange, TreeIndex } from '../tree.ts';
import type { Folder } from './folder.ts';
import { isSame } from './seen.ts';
import { type Walk, walk } from './walk.ts';

type Limits = Pick<Walk, 'nowNs' | 'maxEntries'>;

/** Compares a tree with what was seen of it, which is then what is there now. */
export async function scan(root: Folder, seen: TreeIndex, limits: Limits): Promise<Scan> {
  const now: TreeIndex = new Map();
  const removals = new Set<string>();
  const news: TreeChange[] = [];
  const skipped: Scan['skipped'] = [];
  await walk(root, {
    ...limits,
    found(path, one, modifiedAt) {
      now.set(path, one);
      const before = seen.get(path);
      if (before && isSame(before, one)) return;
      if (before && before.kind !== one.kind) removals.add(path);
      news.push(change(path, one, modifiedAt));
    },
    skipped: (path, reason) => skipped.push({ path, reason }),
  });
  for (const path of seen.keys()) if (!now.has(path)) removals.add(path);
  const changes: TreeChange[] = [];
  for (const path of [...removals].sort())
    if (!isBelowAny(path, removals)) changes.push({ kind: 'remove', path });
  replace(seen, now);
  return { changes: changes.concat(news), skipped };
}

/** Only looks at what is there. */
export async function note(root: Folder, seen: TreeIndex, limits: Limits): Promise<void> {
  const now: TreeIndex = new Map();
  await walk(root, { ...limits, found: (path, one) => now.set(path, one), skipped() {} });
  replace(seen, now);
}

function change(path: string, { kind, size, executable, target }: Seen, modifiedAt: Date): TreeChange {
  switch (kind) {
    case 'file':
      return { kind, path, size, executable, modifiedAt };
    case 'symlink':
      return { kind, path, target };
    case 'directory':
      return { kind, path };
  }
}

/** What goes with a directory needs no removal of its own. */
function isBelowAny(path: string, removals: ReadonlySet<string>): boolean {
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1))
    if (removals.has(path.slice(0, end))) return true;
  return false;
}

function replace(seen: TreeIndex, now: TreeIndex): void {
  seen.clear();
  for (const [path, one] of now) seen.set(path, one);
}
