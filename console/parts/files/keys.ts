import type { KeyboardEvent } from 'react';
import type { FileEntry } from '../../gen/index.ts';
import type { Row } from './rows.ts';

export interface TreeActions {
  go: (index: number) => void;
  open: (row: Row) => void;
  toggle: (path: string, isOpen: boolean) => void;
  rename: ((entry: FileEntry) => void) | undefined;
  remove: ((entry: FileEntry) => void) | undefined;
  /** In rows. */
  pageSize: number;
}

/** What somebody has typed to get to a name, and when. */
interface Typed {
  text: string;
  at: number;
}

const TYPING_MS = 800;
/** Keys that mean something on every page stay what they are. */
const WRITABLE = /^[^\s?/]$/u;

/** The keys of https://www.w3.org/WAI/ARIA/apg/patterns/treeview, and those that change what is there. */
export function handleTreeKey(
  event: KeyboardEvent,
  rows: readonly Row[],
  active: number,
  { go, open, toggle, rename, remove, pageSize }: TreeActions,
  typed: Typed,
): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const row = rows[active];
  const entry = row?.kind === 'entry' ? row.entry : undefined;
  const isFolder = entry?.kind === 'directory';
  // Any other key begins a new word.
  if (!WRITABLE.test(event.key)) typed.text = '';
  if (act()) event.preventDefault();

  function act(): boolean {
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
        return WRITABLE.test(event.key) && type(event.key, event.timeStamp);
    }
  }

  /** Goes to the next name that begins with what has been typed; the same letter again goes on from name to name. */
  function type(key: string, at: number): boolean {
    const text = (at - typed.at < TYPING_MS ? typed.text : '') + key.toLowerCase();
    Object.assign(typed, { text, at });
    const isRepeated = [...text].every((character) => character === key.toLowerCase());
    const wanted = isRepeated ? key.toLowerCase() : text;
    const first = isRepeated ? active + 1 : active;
    for (let step = 0; step < rows.length; step++) {
      const index = (Math.max(0, first) + step) % rows.length;
      const one = rows[index];
      if (one?.kind !== 'entry' || !one.entry.name.toLowerCase().startsWith(wanted)) continue;
      go(index);
      break;
    }
    return true;
  }
}
