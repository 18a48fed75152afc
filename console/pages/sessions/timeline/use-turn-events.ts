import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import type { Turn } from '../../../gen/index.ts';
import type { DurableEvent } from '../../../journal/event.ts';
import { durableEvents } from '../../../journal/event-pages.ts';
import { eventsBetween, turnBounds } from '../../../journal/turn-pages.ts';

export interface TurnEvents {
  /** All events of the turn except file events; undefined until all have loaded. */
  events: readonly DurableEvent[] | undefined;
  /** Number of events that have been loaded; of `total`, which is undefined until it is known. */
  loaded: number;
  total: number | undefined;
  error: Error | null;
  isRetrying: boolean;
  onRetry: () => void;
}

/** Loads all events of a turn. An unfinished turn continues with `newest`, which the stream extends. */
export function useTurnEvents(sessionId: string, turn: Turn, newest: readonly DurableEvent[]): TurnEvents {
  const [streamedAfter] = useState(() => (turn.finished_at === null ? (newest.at(-1)?.seq ?? 0) : undefined));
  const bounds = useQuery(turnBounds(sessionId, turn, streamedAfter));
  const first = bounds.data?.first;
  const last = streamedAfter ?? bounds.data?.last ?? 0;
  const needsPages = first !== undefined && first <= last;
  const pages = useInfiniteQuery({ ...eventsBetween(sessionId, first ?? 0, last), enabled: needsPages });
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = pages;
  useEffect(() => {
    if (hasNextPage && !isFetching && !isError) void fetchNextPage();
  }, [hasNextPage, isFetching, isError, fetchNextPage]);
  const read = useMemo(() => data?.pages.flatMap(({ items }) => items) ?? [], [data]);
  const isComplete = bounds.isSuccess && (!needsPages || (data !== undefined && !hasNextPage));
  const streamed = streamedAfter === undefined ? undefined : newest;
  const events = useMemo(() => {
    if (!isComplete) return undefined;
    const loaded = durableEvents(read.filter(({ seq }) => seq <= last));
    const later = streamed?.filter(({ seq }) => seq > last) ?? [];
    return [...loaded, ...later].filter(({ turn_id: id }) => id === turn.turn_id);
  }, [isComplete, read, last, streamed, turn.turn_id]);
  const reached = Math.min(read.at(-1)?.seq ?? 0, last);
  return {
    events,
    loaded: first === undefined ? 0 : Math.max(0, reached - first + 1),
    total: needsPages ? last - first + 1 : undefined,
    error: bounds.error ?? pages.error,
    isRetrying: bounds.isFetching || isFetching,
    onRetry: () => {
      if (bounds.isError) void bounds.refetch();
      else if (data) void fetchNextPage();
      else void pages.refetch();
    },
  };
}
