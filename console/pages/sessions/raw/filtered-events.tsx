import { useEffect, useState } from 'react';
import { isLongList } from '../../../api/pages.ts';
import { sessions } from '../../../api/sessions.ts';
import type { Event } from '../../../gen/index.ts';
import { List, type PagedQueryResult, useList, useLoadMore } from '../../../parts/resources/list.tsx';
import { EventList, type EventListProps, useEventRows } from './event-list.tsx';

/** Rows before the end at which the next page is loaded. */
const END_MARGIN_ROWS = 10;

/** Events of selected types, newest first. */
export function FilteredEvents({
  sessionId,
  types,
  lastSeq,
  selected,
  onSelect,
}: EventListProps & { types: readonly string[] }) {
  const list = useList(sessions.eventsOfTypes(sessionId, types));
  const { items, query } = list;
  const index = items.findIndex(({ seq }) => seq === selected);
  const rows = useEventRows({ count: items.length, selected: index < 0 ? undefined : index });
  const loadMore = useLoadMore(query);
  const isNearEnd = rows.range[1] >= items.length - END_MARGIN_ROWS;
  useEffect(() => {
    if (isNearEnd) loadMore();
  }, [isNearEnd, loadMore]);
  useRefetchOnNewEvents(query, lastSeq);
  const found = useFirstText(types.join(), query.data && countOf(items.length, query.hasNextPage));
  return (
    <>
      <p role="status" className="sr-only">
        {found}
      </p>
      <List
        list={list}
        empty={<p className="flex-1 py-16 text-center text-muted">No events of these types.</p>}
      >
        {() => (
          <EventList
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

/** Returns the first text for a key, so that later counts are not announced. */
function useFirstText(key: string, text: string | undefined): string | undefined {
  const [first, setFirst] = useState<{ key: string; text: string }>();
  if (text !== undefined && first?.key !== key) setFirst({ key, text });
  return first?.key === key ? first.text : undefined;
}

/** Refetches the list when the session has new events, except for long lists. */
function useRefetchOnNewEvents(
  { data, isFetching, refetch }: PagedQueryResult<Event>,
  lastSeq: number,
): void {
  const [fetchedSeq, setFetchedSeq] = useState(lastSeq);
  const isBehind = fetchedSeq !== lastSeq && !isFetching && !isLongList(data);
  useEffect(() => {
    if (!isBehind) return;
    setFetchedSeq(lastSeq);
    void refetch();
  }, [isBehind, lastSeq, refetch]);
}
