import { useEffect } from 'react';
import { sessions } from '../../../api/sessions.ts';
import { List, useList } from '../../../parts/list.tsx';
import { type EventListProps, Rows, useRows } from './rows.tsx';

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
  const isNearEnd = rows.range[1] >= items.length - 10;
  const { hasNextPage, isFetching, fetchNextPage, refetch } = query;
  useEffect(() => {
    if (isNearEnd && hasNextPage && !isFetching) void fetchNextPage();
  }, [isNearEnd, hasNextPage, isFetching, fetchNextPage]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is new may be of these types
  useEffect(() => void refetch(), [lastSeq, refetch]);
  return (
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
  );
}
