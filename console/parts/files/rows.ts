import type { FileEntry } from '../../gen/index.ts';
import { type Folder, type Folders, folderAt } from './folders.ts';
import { folderOf, foldersAbove } from './paths.ts';

/** A line of the tree. What is no entry says something about the folder it stands in. */
export type Row = { folder: string; level: number; page: number } & (
  | { kind: 'entry'; entry: FileEntry; at: number | undefined; isOpen: boolean }
  | { kind: 'loading' | 'empty' | 'more' }
  | { kind: 'failed'; error: unknown; isTrying: boolean }
);

export type EntryRow = Extract<Row, { kind: 'entry' }>;

/**
 * The tree as it stands, line by line. What is `shown` has its line also where the list of its folder has not been read as
 * far as there: after all that is known of it, which is where it belongs.
 */
export function rowsOf(
  folders: Pick<Folders, 'folder'>,
  open: ReadonlySet<string>,
  shown: FileEntry | undefined,
): Row[] {
  const rows: Row[] = [];
  const onTheWay = shown?.path
    ? new Map([...foldersAbove(shown.path).map(folderAt), shown].map(inFolder))
    : undefined;
  add(folders.folder(''), 1);
  return rows;

  function add({ path: folder, pages, error, isTrying }: Folder, level: number): void {
    let at = 0;
    pages.forEach(({ items }, page) => {
      for (const entry of items) {
        const isOpen = entry.kind === 'directory' && open.has(entry.path);
        rows.push({ kind: 'entry', entry, at: ++at, isOpen, folder, level, page });
        if (isOpen) add(folders.folder(entry.path), level + 1);
      }
    });
    const end = { folder, level, page: Math.max(0, pages.length - 1) };
    const ahead = pages.at(-1)?.next ? onTheWay?.get(folder) : undefined;
    if (ahead && !pages.some(({ items }) => items.some(({ path }) => path === ahead.path))) {
      const isOpen = ahead.kind === 'directory' && open.has(ahead.path);
      rows.push({ kind: 'entry', entry: ahead, at: undefined, isOpen, ...end });
      if (isOpen) add(folders.folder(ahead.path), level + 1);
    }
    if (error !== undefined) rows.push({ kind: 'failed', error, isTrying, ...end });
    else if (pages.length === 0) rows.push({ kind: 'loading', ...end });
    else if (pages.at(-1)?.next) rows.push({ kind: 'more', ...end });
    else if (at === 0) rows.push({ kind: 'empty', ...end });
  }
}

/** By what a line is known from one moment to the next. */
export const keyOf = (row: Row): string => (row.kind === 'entry' ? row.entry.path : `${row.folder}/`);

const inFolder = (entry: FileEntry) => [folderOf(entry.path), entry] as const;
