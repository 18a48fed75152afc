import { type InfiniteData, infiniteQueryOptions } from '@tanstack/react-query';
import { type PollIntervals, pollInterval } from './polling.ts';

export interface ListPage<Item> {
  items: Item[];
  next: string | undefined;
}

const STALE_AFTER_MS = 5_000;
const LONG_LIST_PAGES = 4;

/** Long lists are not refetched automatically: a refetch takes one request per page, in sequence. */
export function isLongList<Item>(list: InfiniteData<ListPage<Item>> | undefined): boolean {
  return (list?.pages.length ?? 0) > LONG_LIST_PAGES;
}

/** How a list is refetched while a component uses it. */
export interface ListPolling<Item> extends PollIntervals {
  /** Whether an item changes without an action of the user. */
  isActive: (item: Item) => boolean;
}

/** A list that loads page by page. */
export function pagedQuery<Item>(
  key: readonly unknown[],
  load: (cursor: string | undefined, signal: AbortSignal) => Promise<ListPage<Item>>,
  polling?: ListPolling<Item>,
) {
  return infiniteQueryOptions({
    queryKey: key,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => load(pageParam, signal),
    getNextPageParam: ({ next }) => next,
    staleTime: ({ state }) => (isLongList(state.data) ? Number.POSITIVE_INFINITY : STALE_AFTER_MS),
    refetchInterval: (query) => {
      if (polling === undefined || isLongList(query.state.data)) return false;
      return pollInterval(query, polling, ({ pages }) =>
        pages.some(({ items }) => items.some(polling.isActive)),
      );
    },
  });
}
