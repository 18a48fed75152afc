import { type InfiniteData, type UseInfiniteQueryResult, useInfiniteQuery } from '@tanstack/react-query';
import { type ReactNode, useCallback } from 'react';
import type { ListPage, pagesOf } from '../../api/pages.ts';
import { Button } from '../../ui/button.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Failure, Problem } from '../faults/failure.tsx';
import { useFailure } from '../faults/use-failure.ts';

export type Pages<Item> = UseInfiniteQueryResult<InfiniteData<ListPage<Item>>>;

/** All pages of a list that have been read so far, as one. */
export function useList<Item>(pages: ReturnType<typeof pagesOf<Item>>) {
  const query = useInfiniteQuery(pages);
  return { query, items: query.data?.pages.flatMap((page) => page.items) ?? [] };
}

/** Reads on, unless there is no more, it is read at the moment, or it has failed: that is tried again by a button alone. */
export function useNextPage<Item>(query: Pages<Item>): () => void {
  const { hasNextPage, isFetching, isFetchNextPageError, fetchNextPage } = query;
  return useCallback(() => {
    if (hasNextPage && !isFetching && !isFetchNextPageError) void fetchNextPage();
  }, [hasNextPage, isFetching, isFetchNextPageError, fetchNextPage]);
}

export interface ListProps<Item> {
  list: { query: Pages<Item>; items: Item[] };
  /** Instead of it when there is nothing. */
  empty: ReactNode;
  curl?: string;
  children: (items: Item[]) => ReactNode;
}

/** A list in each of its states: on its way, failed, empty, there, and with more to come. */
export function List<Item>({ list: { query, items }, empty, curl, children }: ListProps<Item>) {
  const failure = useFailure(query, items.length === 0);
  if (failure) return <Failure {...failure} curl={curl} />;
  if (query.isPending) return <Skeleton lines={6} />;
  if (items.length === 0) return empty;
  return (
    <>
      {children(items)}
      {query.hasNextPage && (
        <div className="flex flex-col items-center p-3">
          {query.isFetchNextPageError && <Problem error={query.error} />}
          <Button className="mt-2" busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            Show more
          </Button>
        </div>
      )}
    </>
  );
}
