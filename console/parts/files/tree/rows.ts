import type { FileEntry } from '../../../gen/index.ts';
import { folderOf, foldersAbove } from '../paths.ts';
import { type FolderCache, type FolderState, folderAt } from './folders.ts';

/** A row of the tree: an entry, or a state of the folder that contains the row. */
export type TreeRowData = { folder: string; level: number; page: number } & (
  | { kind: 'entry'; entry: FileEntry; at: number | undefined; isOpen: boolean }
  | { kind: 'loading' | 'empty' | 'more' }
  | { kind: 'failed'; error: unknown; isRetrying: boolean }
);

export type TreeEntryRow = Extract<TreeRowData, { kind: 'entry' }>;

/**
 * Returns the rows of the tree. The `shown` entry has a row even when its folder is not loaded that far: after the loaded
 * entries, which is its sort position.
 */
export function rowsOf(
  folders: Pick<FolderCache, 'folder'>,
  open: ReadonlySet<string>,
  shown: FileEntry | undefined,
): TreeRowData[] {
  const rows: TreeRowData[] = [];
  const pathToShown = shown?.path
    ? new Map([...foldersAbove(shown.path).map(folderAt), shown].map(inFolder))
    : undefined;
  add(folders.folder(''), 1);
  return rows;

  function add({ path: folder, pages, error, isRetrying }: FolderState, level: number): void {
    let at = 0;
    pages.forEach(({ items }, page) => {
      for (const entry of items) {
        const isOpen = entry.kind === 'directory' && open.has(entry.path);
        rows.push({ kind: 'entry', entry, at: ++at, isOpen, folder, level, page });
        if (isOpen) add(folders.folder(entry.path), level + 1);
      }
    });
    const end = { folder, level, page: Math.max(0, pages.length - 1) };
    const pendingEntry = pages.at(-1)?.next ? pathToShown?.get(folder) : undefined;
    if (pendingEntry && !pages.some(({ items }) => items.some(({ path }) => path === pendingEntry.path))) {
      const isOpen = pendingEntry.kind === 'directory' && open.has(pendingEntry.path);
      rows.push({ kind: 'entry', entry: pendingEntry, at: undefined, isOpen, ...end });
      if (isOpen) add(folders.folder(pendingEntry.path), level + 1);
    }
    if (error !== undefined) rows.push({ kind: 'failed', error, isRetrying, ...end });
    else if (pages.length === 0) rows.push({ kind: 'loading', ...end });
    else if (pages.at(-1)?.next) rows.push({ kind: 'more', ...end });
    else if (at === 0) rows.push({ kind: 'empty', ...end });
  }
}

/** Returns a stable key of a row. */
export const rowKeyOf = (row: TreeRowData): string =>
  row.kind === 'entry' ? row.entry.path : `${row.folder}/`;

const inFolder = (entry: FileEntry) => [folderOf(entry.path), entry] as const;
