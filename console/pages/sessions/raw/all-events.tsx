import { useQueries } from '@tanstack/react-query';
import { EVENTS_PER_CHUNK, sessions } from '../../../api/sessions.ts';
import type { Event } from '../../../gen/index.ts';
import { ErrorAlert } from '../../../parts/errors/error-state.tsx';
import { Button } from '../../../ui/button.tsx';
import { EventList, type EventListProps, useEventRows } from './event-list.tsx';

/** All events in a virtualized list. Only the visible chunks are loaded. */
export function AllEvents({ sessionId, lastSeq, selected, onSelect }: EventListProps) {
  const rows = useEventRows({ count: lastSeq, selected: selected === undefined ? undefined : selected - 1 });
  const [first, last] = rows.range;
  const chunks = numbersBetween(Math.floor(first / EVENTS_PER_CHUNK), Math.floor(last / EVENTS_PER_CHUNK));
  const found = useQueries({
    queries: chunks.map((number) => {
      const upTo = Math.min((number + 1) * EVENTS_PER_CHUNK, lastSeq);
      return { ...sessions.chunk(sessionId, number, upTo), placeholderData: keepPrevious };
    }),
  });
  const eventAt = (index: number): Event | undefined => {
    const chunk = found[Math.floor(index / EVENTS_PER_CHUNK) - Math.floor(first / EVENTS_PER_CHUNK)];
    return chunk?.data?.[index % EVENTS_PER_CHUNK];
  };
  const failed = found.filter(({ isError }) => isError);
  const retry = () => {
    for (const chunk of failed) void chunk.refetch();
  };
  return (
    <div className="flex min-w-0 flex-1 flex-col">
      {failed[0] && (
        <div className="flex flex-wrap items-center gap-3 px-4 pb-3 sm:px-8">
          <ErrorAlert error={failed[0].error} />
          <Button small onClick={retry} className="mt-3">
            Try again
          </Button>
        </div>
      )}
      <EventList
        rows={rows}
        label="Events"
        selected={selected}
        eventAt={eventAt}
        seqAt={(index) => index + 1}
        onSelect={onSelect}
      />
    </div>
  );
}

/** Keeps the previous version of the newest chunk until a longer one has loaded. */
const keepPrevious = (before: Event[] | undefined) => before;

function numbersBetween(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
