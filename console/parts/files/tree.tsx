import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useId, useMemo, useRef, useState } from 'react';
import type { FileEntry } from '../../gen/index.ts';
import type { Folders } from './folders.ts';
import { handleTreeKey, type TreeActions } from './keys.ts';
import { foldersAbove } from './paths.ts';
import { keyOf, type Row } from './rows.ts';
import { TreeRow } from './tree-row.tsx';

const ROW_PX = 32;

export interface TreeProps {
  folders: Folders;
  rows: readonly Row[];
  selected: string;
  onSelect: (path: string) => void;
  onToggle: (path: string, isOpen: boolean) => void;
  /** Absent where nothing may be changed. */
  onRename?: ((entry: FileEntry) => void) | undefined;
  onDelete?: ((entry: FileEntry) => void) | undefined;
  /** The folder into which would go what is being dragged. */
  dropFolder: string | undefined;
}

/** The files of a workspace as a tree. Only what is in view is rendered, and only that is asked for. */
export function Tree({
  folders,
  rows,
  selected,
  onSelect,
  onToggle,
  onRename,
  onDelete,
  dropFolder,
}: TreeProps) {
  const id = useId();
  const place = useRef<HTMLDivElement>(null);
  const [activeKey, setActiveKey] = useState<string>();
  const last = useRef(0);
  const active = useActive(rows, activeKey, last);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => place.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
    // Where the keyboard is has to be there for screen readers.
    rangeExtractor: ({ startIndex, endIndex, overscan, count }) => {
      const first = Math.max(0, startIndex - overscan);
      const end = Math.min(count - 1, endIndex + overscan);
      const shown = Array.from({ length: end - first + 1 }, (_, index) => first + index);
      if (active >= 0 && active < first) shown.unshift(active);
      if (active > end && active < count) shown.push(active);
      return shown;
    },
  });
  const items = virtual.getVirtualItems();

  const from = virtual.range?.startIndex ?? 0;
  const to = virtual.range?.endIndex ?? 0;
  useEffect(() => {
    for (const row of rows.slice(from, to + 1)) {
      folders.look(row.folder, row.page);
      if (row.kind === 'more') folders.more(row.folder);
    }
  }, [folders, rows, from, to]);

  const revealed = useRef<string>(undefined);
  useEffect(() => {
    if (!selected || revealed.current === selected) return;
    const index = rows.findIndex((row) => row.kind === 'entry' && row.entry.path === selected);
    if (index >= 0) {
      revealed.current = selected;
      setActiveKey(selected);
      virtual.scrollToIndex(index);
      return;
    }
    // What leads there may be far from what is in view; a long list is not searched for it.
    for (const folder of foldersAbove(selected)) folders.look(folder);
  }, [folders, rows, selected, virtual]);

  function go(index: number): void {
    const row = rows[Math.min(Math.max(index, 0), rows.length - 1)];
    if (!row) return;
    setActiveKey(keyOf(row));
    virtual.scrollToIndex(rows.indexOf(row));
  }

  const actions: TreeActions = {
    go,
    open: (row) => {
      if (row.kind === 'failed') folders.retry(row.folder);
      if (row.kind !== 'entry') return;
      onSelect(row.entry.path);
      if (row.entry.kind === 'directory' && !row.isOpen) onToggle(row.entry.path, true);
    },
    toggle: onToggle,
    rename: onRename,
    remove: onDelete,
    pageSize: Math.max(1, to - from - 1),
  };
  const typed = useRef({ text: '', at: 0 });
  const showsActive = items.some(({ index }) => index === active);

  return (
    <div
      ref={place}
      role="tree"
      aria-label="Files"
      tabIndex={0}
      aria-activedescendant={showsActive ? `${id}-${active}` : undefined}
      onFocus={() => {
        if (active < 0)
          go(
            Math.max(
              0,
              rows.findIndex((row) => keyOf(row) === selected),
            ),
          );
      }}
      onScroll={() => {
        // Whoever looks around in it is not taken away from there.
        revealed.current = selected;
      }}
      onKeyDown={(event) => handleTreeKey(event, rows, active, actions, typed.current)}
      className="group/tree max-h-[min(70dvh,52rem)] min-h-40 overflow-y-auto overscroll-contain rounded-xl p-1 -outline-offset-2"
    >
      <div role="presentation" className="relative" style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, start }) => {
          const row = rows[index];
          if (!row) return null;
          return (
            <TreeRow
              key={keyOf(row)}
              id={`${id}-${index}`}
              row={row}
              siblings={countIn(folders, row.folder)}
              top={start}
              isActive={index === active}
              isSelected={row.kind === 'entry' && row.entry.path === selected}
              isTarget={dropFolder !== undefined && row.kind === 'entry' && row.entry.path === dropFolder}
              onPress={() => {
                setActiveKey(keyOf(row));
                const isShown = row.kind === 'entry' && row.entry.path === selected;
                if (isShown && row.isOpen) onToggle(row.entry.path, false);
                else actions.open(row);
              }}
              onToggle={() => row.kind === 'entry' && onToggle(row.entry.path, !row.isOpen)}
            />
          );
        })}
      </div>
    </div>
  );
}

/** Where the keyboard is. When that is gone, it is where it was. */
function useActive(rows: readonly Row[], key: string | undefined, last: { current: number }): number {
  return useMemo(() => {
    if (key === undefined) return -1;
    const known = rows[last.current];
    const found = known && keyOf(known) === key ? last.current : rows.findIndex((row) => keyOf(row) === key);
    if (found >= 0) last.current = found;
    return Math.min(last.current, rows.length - 1);
  }, [rows, key, last]);
}

/** How many entries a folder has; -1 when nobody knows yet. */
function countIn(folders: Folders, path: string): number {
  const { pages } = folders.folder(path);
  return pages.at(-1)?.next ? -1 : pages.reduce((sum, { items }) => sum + items.length, 0);
}
