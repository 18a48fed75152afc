import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useId, useMemo, useRef, useState } from 'react';
import type { FileEntry } from '../../../gen/index.ts';
import { foldersAbove } from '../paths.ts';
import type { FolderCache } from './folders.ts';
import { rowKeyOf, type TreeRowData } from './rows.ts';
import { handleTreeKey, type TreeActions } from './tree-keys.ts';
import { TreeRow } from './tree-row.tsx';

const ROW_PX = 32;

export interface TreeProps {
  folders: FolderCache;
  rows: readonly TreeRowData[];
  selected: string;
  onSelect: (path: string) => void;
  onToggle: (path: string, isOpen: boolean) => void;
  /** Absent in a read-only workspace. */
  onRename?: ((entry: FileEntry) => void) | undefined;
  onDelete?: ((entry: FileEntry) => void) | undefined;
  /** The folder that would receive the dragged files. */
  dropFolder: string | undefined;
}

/** Virtualized file tree. It renders and loads only the visible rows. */
export function FileTree({
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
  const scrollBox = useRef<HTMLDivElement>(null);
  const [activeKey, setActiveKey] = useState<string>();
  const last = useRef(0);
  const active = useActive(rows, activeKey, last);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scrollBox.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
    // The active row must exist for aria-activedescendant.
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
      folders.load(row.folder, row.page);
      if (row.kind === 'more') folders.loadMore(row.folder);
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
    // Loads the parent folders, which may be outside of the viewport. A long folder is not searched for the entry.
    for (const folder of foldersAbove(selected)) folders.load(folder);
  }, [folders, rows, selected, virtual]);

  function go(index: number): void {
    const row = rows[Math.min(Math.max(index, 0), rows.length - 1)];
    if (!row) return;
    setActiveKey(rowKeyOf(row));
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
      ref={scrollBox}
      role="tree"
      aria-label="Files"
      tabIndex={0}
      aria-activedescendant={showsActive ? `${id}-${active}` : undefined}
      onFocus={() => {
        if (active < 0)
          go(
            Math.max(
              0,
              rows.findIndex((row) => rowKeyOf(row) === selected),
            ),
          );
      }}
      onScroll={() => {
        // After the user scrolls, the tree no longer scrolls to the selected entry.
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
              key={rowKeyOf(row)}
              id={`${id}-${index}`}
              row={row}
              siblings={countIn(folders, row.folder)}
              top={start}
              isActive={index === active}
              isSelected={row.kind === 'entry' && row.entry.path === selected}
              isTarget={dropFolder !== undefined && row.kind === 'entry' && row.entry.path === dropFolder}
              onPress={() => {
                setActiveKey(rowKeyOf(row));
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

/** Returns the index of the active row. When the row disappears, the index stays. */
function useActive(rows: readonly TreeRowData[], key: string | undefined, last: { current: number }): number {
  return useMemo(() => {
    if (key === undefined) return -1;
    const lastRow = rows[last.current];
    const found =
      lastRow && rowKeyOf(lastRow) === key ? last.current : rows.findIndex((row) => rowKeyOf(row) === key);
    if (found >= 0) last.current = found;
    return Math.min(last.current, rows.length - 1);
  }, [rows, key, last]);
}

/** Number of entries of a folder; -1 while it is not loaded completely. */
function countIn(folders: FolderCache, path: string): number {
  const { pages } = folders.folder(path);
  return pages.at(-1)?.next ? -1 : pages.reduce((sum, { items }) => sum + items.length, 0);
}
