import { useQueries } from '@tanstack/react-query';
import { CHUNK, sessions } from '../../../api/sessions.ts';
import type { Event } from '../../../gen/index.ts';
import { Problem } from '../../../parts/faults/failure.tsx';
import { Button } from '../../../ui/button.tsx';
import { type EventListProps, Rows, useRows } from './rows.tsx';

/** All events, however many: what is in sight is read, in chunks that never change. */
export function AllEvents({ sessionId, lastSeq, selected, onSelect }: EventListProps) {
  const rows = useRows({ count: lastSeq, selected: selected === undefined ? undefined : selected - 1 });
  const [first, last] = rows.range;
  const chunks = numbersBetween(Math.floor(first / CHUNK), Math.floor(last / CHUNK));
  const found = useQueries({
    queries: chunks.map((number) => {
      const upTo = Math.min((number + 1) * CHUNK, lastSeq);
      return { ...sessions.chunk(sessionId, number, upTo), placeholderData: keep };
    }),
  });
  const eventAt = (index: number): Event | undefined => {
    const chunk = found[Math.floor(index / CHUNK) - Math.floor(first / CHUNK)];
    return chunk?.data?.[index % CHUNK];
  };
  const failed = found.filter(({ isError }) => isError);
  const retry = () => {
    for (const chunk of failed) void chunk.refetch();
  };
  return (
    <div className="flex min-w-0 flex-1 flex-col">
      {failed[0] && (
        <div className="flex flex-wrap items-center gap-3 px-4 pb-3 sm:px-8">
          <Problem error={failed[0].error} />
          <Button small onClick={retry} className="mt-3">
            Try again
          </Button>
        </div>
      )}
      <Rows
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

/** Of the newest chunk, what was there stays until there is more. */
const keep = (before: Event[] | undefined) => before;

function numbersBetween(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
