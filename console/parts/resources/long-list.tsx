import { useWindowVirtualizer, type Virtualizer } from '@tanstack/react-virtual';
import { memo, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { classes } from '../../ui/classes.ts';
import { useMediaQuery } from '../../ui/media-query.ts';

export interface Column<Item> {
  name: string;
  /** Hides the header visually when the cells are self-explanatory. */
  hideName?: boolean;
  /** Classes of the header and the cells, such as the width. */
  className?: string;
  cell: (item: Item) => ReactNode;
}

export interface LongListProps<Item> {
  /** Accessible name of the list. */
  label: string;
  items: Item[];
  keyOf: (item: Item) => string;
  columns: readonly Column<Item>[];
  /** Renders an item on narrow screens. */
  card: (item: Item) => ReactNode;
  /** More items exist than are loaded. */
  more?: boolean;
  /** Called when the end of the list is near the viewport. */
  onEnd?: () => void;
}

const WIDE = '(min-width: 60rem)';
const ROW_PX = 57;
const CARD_PX = 130;
/** Lists up to this length render all rows, so that the browser's find-in-page works. */
const RENDER_ALL_ROWS = 100;
const OVERSCAN_ROWS = 8;
/** Rows before the end at which onEnd is called. */
const END_MARGIN_ROWS = 10;

type Rows = Virtualizer<Window, HTMLElement>;

/** Virtualized table; on narrow screens a list of cards. */
export function LongList<Item>(props: LongListProps<Item>) {
  const { items, keyOf, onEnd } = props;
  const isWide = useMediaQuery(WIDE);
  const listElement = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    // Content above the list may have changed its height.
    const now = listElement.current ? listElement.current.getBoundingClientRect().top + window.scrollY : 0;
    if (Math.abs(now - top) > 1) setTop(now);
  });
  const rows: Rows = useWindowVirtualizer<HTMLElement>({
    count: items.length,
    estimateSize: () => (isWide ? ROW_PX : CARD_PX),
    getItemKey: (index) => {
      const item = items[index];
      return item === undefined ? index : keyOf(item);
    },
    overscan: items.length <= RENDER_ALL_ROWS ? RENDER_ALL_ROWS : OVERSCAN_ROWS,
    scrollMargin: top,
  });
  const isNearEnd = (rows.range?.endIndex ?? 0) >= items.length - END_MARGIN_ROWS;
  useEffect(() => {
    if (isNearEnd) onEnd?.();
  }, [isNearEnd, onEnd]);
  return (
    <div ref={listElement}>
      {isWide ? <WideRows {...props} rows={rows} /> : <Cards {...props} rows={rows} />}
    </div>
  );
}

/** Heights of the rows that are not rendered, above and below. */
function spaceAround(rows: Rows): { above: number; below: number } {
  const rendered = rows.getVirtualItems();
  const { scrollMargin } = rows.options;
  const first = rendered[0];
  const last = rendered.at(-1);
  return {
    above: first ? first.start - scrollMargin : 0,
    below: last ? rows.getTotalSize() - (last.end - scrollMargin) : 0,
  };
}

function WideRows<Item>({ label, items, columns, more, rows }: LongListProps<Item> & { rows: Rows }) {
  const { above, below } = spaceAround(rows);
  return (
    <table
      aria-label={label}
      aria-rowcount={more ? -1 : items.length + 1}
      className="w-full table-fixed border-separate border-spacing-0"
    >
      <thead>
        <tr aria-rowindex={1}>
          {columns.map(({ name, hideName, className }) => (
            <th
              key={name}
              scope="col"
              className={classes(
                'h-9 border-b border-line px-3 text-start text-xs font-medium text-muted first:ps-4 last:pe-4',
                className,
              )}
            >
              {hideName ? <span className="sr-only">{name}</span> : name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        <Gap height={above} />
        {rows.getVirtualItems().map(({ key, index }) => {
          const item = items[index];
          return item === undefined ? null : (
            <Row key={key} item={item} index={index} columns={columns} measure={rows.measureElement} />
          );
        })}
        <Gap height={below} />
      </tbody>
    </table>
  );
}

interface RowProps<Item> {
  item: Item;
  index: number;
  columns: readonly Column<Item>[];
  measure: Rows['measureElement'];
}

/** Memoized, so that scrolling does not render rows again. */
const Row = memo(PlainRow) as typeof PlainRow;

function PlainRow<Item>({ item, index, columns, measure }: RowProps<Item>) {
  return (
    <tr
      ref={measure}
      data-index={index}
      aria-rowindex={index + 2}
      className="hover:bg-sunken last:*:border-b-0"
    >
      {columns.map(({ name, className, cell }, at) => {
        // The first cell is the row header.
        const [Tag, scope] = at === 0 ? (['th', 'row'] as const) : (['td', undefined] as const);
        return (
          <Tag
            key={name}
            scope={scope}
            className={classes(
              'border-b border-line px-3 py-2 text-start align-top font-normal first:ps-4 last:pe-4',
              className,
            )}
          >
            {cell(item)}
          </Tag>
        );
      })}
    </tr>
  );
}

function Gap({ height }: { height: number }) {
  if (height <= 0) return null;
  return (
    <tr aria-hidden>
      <td className="p-0" style={{ height }} />
    </tr>
  );
}

function Cards<Item>({ label, items, card, rows }: LongListProps<Item> & { rows: Rows }) {
  const { above, below } = spaceAround(rows);
  return (
    <ul aria-label={label} style={{ paddingTop: above, paddingBottom: below }}>
      {rows.getVirtualItems().map(({ key, index }) => {
        const item = items[index];
        return item === undefined ? null : (
          <li
            key={key}
            ref={rows.measureElement}
            data-index={index}
            aria-posinset={index + 1}
            aria-setsize={items.length}
            className="border-b border-line p-4 last:border-b-0"
          >
            {card(item)}
          </li>
        );
      })}
    </ul>
  );
}
