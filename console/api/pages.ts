import { type InfiniteData, infiniteQueryOptions } from '@tanstack/react-query';

export interface ListPage<Item> {
  items: Item[];
  next: string | undefined;
}

const FRESH_MS = 5_000;
const MANY_PAGES = 4;

/** What has been read so far down is not read again by itself: that takes a request per page, one after the other. */
export function isLong<Item>(list: InfiniteData<ListPage<Item>> | undefined): boolean {
  return (list?.pages.length ?? 0) > MANY_PAGES;
}

/** A list that is read page by page; with `followMs`, again and again for as long as somebody looks at it. */
export function pagesOf<Item>(
  key: readonly unknown[],
  load: (cursor: string | undefined, signal: AbortSignal) => Promise<ListPage<Item>>,
  followMs?: number,
) {
  return infiniteQueryOptions({
    queryKey: key,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => load(pageParam, signal),
    getNextPageParam: ({ next }) => next,
    staleTime: ({ state }) => (isLong(state.data) ? Number.POSITIVE_INFINITY : FRESH_MS),
    refetchInterval: ({ state }) => followMs !== undefined && !isLong(state.data) && followMs,
  });
}
