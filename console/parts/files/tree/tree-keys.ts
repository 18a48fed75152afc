import type { KeyboardEvent } from 'react';
import type { FileEntry } from '../../../gen/index.ts';
import type { TreeRowData } from './rows.ts';

export interface TreeActions {
  go: (index: number) => void;
  open: (row: TreeRowData) => void;
  toggle: (path: string, isOpen: boolean) => void;
  rename: ((entry: FileEntry) => void) | undefined;
  remove: ((entry: FileEntry) => void) | undefined;
  /** Rows per page. */
  pageSize: number;
}

/** Text typed to select an entry by name, and the time of the last key. */
interface TypeAhead {
  text: string;
  at: number;
}

const TYPE_AHEAD_MS = 800;
/** Excludes the keys of global shortcuts. */
const TYPE_AHEAD_KEY = /^[^\s?/]$/u;

/** Keyboard interaction of https://www.w3.org/WAI/ARIA/apg/patterns/treeview, plus keys for rename and delete. */
export function handleTreeKey(
  event: KeyboardEvent,
  rows: readonly TreeRowData[],
  active: number,
  { go, open, toggle, rename, remove, pageSize }: TreeActions,
  typed: TypeAhead,
): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const row = rows[active];
  const entry = row?.kind === 'entry' ? row.entry : undefined;
  const isFolder = entry?.kind === 'directory';
  // Every other key resets the typed text.
  if (!TYPE_AHEAD_KEY.test(event.key)) typed.text = '';
  if (handleKey()) event.preventDefault();

  function handleKey(): boolean {
    switch (event.key) {
      case 'ArrowDown':
        go(active + 1);
        return true;
      case 'ArrowUp':
        go(active - 1);
        return true;
      case 'PageDown':
        go(active + pageSize);
        return true;
      case 'PageUp':
        go(active - pageSize);
        return true;
      case 'Home':
        go(0);
        return true;
      case 'End':
        go(rows.length - 1);
        return true;
      case 'ArrowRight':
        if (isFolder && row?.kind === 'entry' && !row.isOpen) toggle(entry.path, true);
        else if (isFolder) go(active + 1);
        return true;
      case 'ArrowLeft':
        if (isFolder && row?.kind === 'entry' && row.isOpen) toggle(entry.path, false);
        else if (row && row.level > 1)
          go(rows.findLastIndex((one, at) => at < active && one.level < row.level));
        return true;
      case 'Enter':
      case ' ':
        if (row) open(row);
        return true;
      case 'F2':
        if (entry) rename?.(entry);
        return true;
      case 'Delete':
        if (entry) remove?.(entry);
        return true;
      default:
        return TYPE_AHEAD_KEY.test(event.key) && type(event.key, event.timeStamp);
    }
  }

  /** Selects the next name that begins with the typed text. Repeating one letter cycles through the names. */
  function type(key: string, at: number): boolean {
    const text = (at - typed.at < TYPE_AHEAD_MS ? typed.text : '') + key.toLowerCase();
    Object.assign(typed, { text, at });
    const isRepeated = [...text].every((character) => character === key.toLowerCase());
    const prefix = isRepeated ? key.toLowerCase() : text;
    const first = isRepeated ? active + 1 : active;
    for (let step = 0; step < rows.length; step++) {
      const index = (Math.max(0, first) + step) % rows.length;
      const candidate = rows[index];
      if (candidate?.kind !== 'entry' || !candidate.entry.name.toLowerCase().startsWith(prefix)) continue;
      go(index);
      break;
    }
    return true;
  }
}
