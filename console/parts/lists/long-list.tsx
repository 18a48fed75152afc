import { useWindowVirtualizer, type Virtualizer } from '@tanstack/react-virtual';
import { memo, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { classes } from '../../ui/classes.ts';
import { useMedia } from '../../ui/media.ts';

export interface Column<Item> {
  name: string;
  /** Where cells say themselves what they are. */
  hideName?: boolean;
  /** Its width, and how its cells are set. */
  className?: string;
  cell: (item: Item) => ReactNode;
}

export interface LongListProps<Item> {
  /** What is listed; its name. */
  label: string;
  items: Item[];
  keyOf: (item: Item) => string;
  columns: readonly Column<Item>[];
  /** One of them where there is no room for columns. */
  card: (item: Item) => ReactNode;
  /** There is more than the items. */
  more?: boolean;
  /** The end comes into view. */
  onEnd?: () => void;
}

const WIDE = '(min-width: 60rem)';
const ROW_PX = 57;
const CARD_PX = 130;
/** As many are drawn all at once: pages search them. */
const FEW = 100;
const AROUND = 8;
/** Comes into view soon. */
const NEAR = 10;

type Rows = Virtualizer<Window, HTMLElement>;

/** Rows of any number, of which only those in view are drawn; on narrow screens, cards. */
export function LongList<Item>(props: LongListProps<Item>) {
  const { items, keyOf, onEnd } = props;
  const isWide = useMedia(WIDE);
  const place = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    // What stands above may have grown.
    const now = place.current ? place.current.getBoundingClientRect().top + window.scrollY : 0;
    if (Math.abs(now - top) > 1) setTop(now);
  });
  const rows: Rows = useWindowVirtualizer<HTMLElement>({
    count: items.length,
    estimateSize: () => (isWide ? ROW_PX : CARD_PX),
    getItemKey: (index) => {
      const item = items[index];
      return item === undefined ? index : keyOf(item);
    },
    overscan: items.length <= FEW ? FEW : AROUND,
    scrollMargin: top,
  });
  const isNearEnd = (rows.range?.endIndex ?? 0) >= items.length - NEAR;
  useEffect(() => {
    if (isNearEnd) onEnd?.();
  }, [isNearEnd, onEnd]);
  return (
    <div ref={place}>{isWide ? <WideRows {...props} rows={rows} /> : <Cards {...props} rows={rows} />}</div>
  );
}

/** What is not drawn, above and below. */
function spaceAround(rows: Rows): { above: number; below: number } {
  const drawn = rows.getVirtualItems();
  const { scrollMargin } = rows.options;
  const first = drawn[0];
  const last = drawn.at(-1);
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

/** Drawn anew only when there is something new to draw, and not with every step of scrolling. */
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
        // What stands first tells the rows apart.
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
