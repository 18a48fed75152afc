import { useEffect, useState } from 'react';
import { isLong } from '../../../api/pages.ts';
import { sessions } from '../../../api/sessions.ts';
import type { Event } from '../../../gen/index.ts';
import { List, type Pages, useList, useNextPage } from '../../../parts/lists/list.tsx';
import { type EventListProps, Rows, useRows } from './rows.tsx';

/** Comes into view soon. */
const NEAR = 10;

/** Events of some types, newest first. */
export function SomeEvents({
  sessionId,
  types,
  lastSeq,
  selected,
  onSelect,
}: EventListProps & { types: readonly string[] }) {
  const list = useList(sessions.eventsOf(sessionId, types));
  const { items, query } = list;
  const index = items.findIndex(({ seq }) => seq === selected);
  const rows = useRows({ count: items.length, selected: index < 0 ? undefined : index });
  const readOn = useNextPage(query);
  const isNearEnd = rows.range[1] >= items.length - NEAR;
  useEffect(() => {
    if (isNearEnd) readOn();
  }, [isNearEnd, readOn]);
  useNewest(query, lastSeq);
  const found = useFirst(types.join(), query.data && countOf(items.length, query.hasNextPage));
  return (
    <>
      <p role="status" className="sr-only">
        {found}
      </p>
      <List
        list={list}
        empty={<p className="flex-1 py-16 text-center text-muted">No event is of these types.</p>}
      >
        {() => (
          <Rows
            rows={rows}
            label="Events of these types"
            selected={selected}
            eventAt={(at) => items[at]}
            seqAt={(at) => items[at]?.seq ?? 0}
            onSelect={onSelect}
          />
        )}
      </List>
    </>
  );
}

function countOf(count: number, hasMore: boolean): string {
  return `${count}${hasMore ? ' or more' : ''} ${count === 1 && !hasMore ? 'event' : 'events'} of these types`;
}

/** The first text there is for a key: what is told once does not count along. */
function useFirst(key: string, text: string | undefined): string | undefined {
  const [first, setFirst] = useState<{ key: string; text: string }>();
  if (text !== undefined && first?.key !== key) setFirst({ key, text });
  return first?.key === key ? first.text : undefined;
}

/** Reads a list again when there may be more in it; one that has been read far down is left to whoever reads it. */
function useNewest({ data, isFetching, refetch }: Pages<Event>, lastSeq: number): void {
  const [readAt, setReadAt] = useState(lastSeq);
  const isBehind = readAt !== lastSeq && !isFetching && !isLong(data);
  useEffect(() => {
    if (!isBehind) return;
    setReadAt(lastSeq);
    void refetch();
  }, [isBehind, lastSeq, refetch]);
}
