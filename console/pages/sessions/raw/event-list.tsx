import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type MouseEvent, useEffect, useRef } from 'react';
import type { Event } from '../../../gen/index.ts';
import { EventRow, ROW_PX } from './event-row.tsx';

const OVERSCAN = 12;
/** Assumed height before the first measurement. */
const INITIAL_HEIGHT_PX = 640;

/** Properties shared by the event lists. */
export interface EventListProps {
  sessionId: string;
  lastSeq: number;
  selected: number | undefined;
  onSelect: (seq: number) => void;
}

interface RowsOptions {
  count: number;
  /** Index of the selected row. */
  selected: number | undefined;
}

/** Virtualized rows of an event list. Scrolls to the selected row. */
export function useEventRows({ count, selected }: RowsOptions) {
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
    initialRect: { width: 0, height: INITIAL_HEIGHT_PX },
  });
  const items = virtual.getVirtualItems();
  const shown = useRef<number>(undefined);
  useEffect(() => {
    if (selected === undefined || selected === shown.current || selected >= count) return;
    shown.current = selected;
    virtual.scrollToIndex(selected, { align: 'auto' });
  }, [selected, count, virtual]);
  const range: [first: number, last: number] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];
  return { box, virtual, items, range, count, selected };
}

export interface RowsProps {
  rows: ReturnType<typeof useEventRows>;
  label: string;
  selected: number | undefined;
  eventAt: (index: number) => Event | undefined;
  seqAt: (index: number) => number;
  onSelect: (seq: number) => void;
}

/** Listbox of events with keyboard navigation. */
export function EventList({ rows, label, selected, eventAt, seqAt, onSelect }: RowsProps) {
  const { box, virtual, items, count, selected: index } = rows;
  function onKeyDown(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor((box.current?.clientHeight ?? INITIAL_HEIGHT_PX) / ROW_PX) - 1);
    const from = index ?? -1;
    const targets: Record<string, number> = {
      ArrowDown: from + 1,
      ArrowUp: from - 1,
      PageDown: from + page,
      PageUp: from - page,
      Home: 0,
      End: count - 1,
    };
    const target = targets[event.key];
    if (target === undefined || count === 0) return;
    event.preventDefault();
    const at = Math.min(Math.max(target, 0), count - 1);
    virtual.scrollToIndex(at, { align: 'auto' });
    onSelect(seqAt(at));
  }
  function onClick({ target }: MouseEvent): void {
    const row = target instanceof Element ? target.closest<HTMLElement>('[data-seq]') : null;
    if (row) onSelect(Number(row.dataset.seq));
  }
  return (
    <div
      ref={box}
      role="listbox"
      aria-label={label}
      aria-activedescendant={items.some((item) => item.index === index) ? `event-${selected}` : undefined}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onClick={onClick}
      className="min-w-0 flex-1 overflow-y-auto -outline-offset-2"
    >
      <div className="relative" style={{ height: virtual.getTotalSize() }}>
        {items.map((item) => (
          <EventRow
            key={item.key}
            event={eventAt(item.index)}
            seq={seqAt(item.index)}
            position={item.index + 1}
            count={count}
            isSelected={item.index === index}
            topPx={item.start}
          />
        ))}
      </div>
    </div>
  );
}
