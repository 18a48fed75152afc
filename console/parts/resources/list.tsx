import { type InfiniteData, type UseInfiniteQueryResult, useInfiniteQuery } from '@tanstack/react-query';
import { type ReactNode, useCallback } from 'react';
import type { ListPage, pagedQuery } from '../../api/pages.ts';
import { Button } from '../../ui/button.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { ErrorAlert, ErrorState } from '../errors/error-state.tsx';
import { useQueryFailure } from '../errors/use-query-failure.ts';

export type PagedQueryResult<Item> = UseInfiniteQueryResult<InfiniteData<ListPage<Item>>>;

/** Returns the items of all loaded pages of a list. */
export function useList<Item>(pages: ReturnType<typeof pagedQuery<Item>>) {
  const query = useInfiniteQuery(pages);
  return { query, items: query.data?.pages.flatMap((page) => page.items) ?? [] };
}

/**
 * Returns a function that loads the next page. It does nothing at the end of the list, during a request, and after an error:
 * a failed page is retried only by its button.
 */
export function useLoadMore<Item>(query: PagedQueryResult<Item>): () => void {
  const { hasNextPage, isFetching, isFetchNextPageError, fetchNextPage } = query;
  return useCallback(() => {
    if (hasNextPage && !isFetching && !isFetchNextPageError) void fetchNextPage();
  }, [hasNextPage, isFetching, isFetchNextPageError, fetchNextPage]);
}

export interface ListProps<Item> {
  list: { query: PagedQueryResult<Item>; items: Item[] };
  /** Shown in place of an empty list. */
  empty: ReactNode;
  curl?: string;
  children: (items: Item[]) => ReactNode;
}

/** A list with its loading, error and empty states and a button for more items. */
export function List<Item>({ list: { query, items }, empty, curl, children }: ListProps<Item>) {
  const failure = useQueryFailure(query, items.length === 0);
  if (failure) return <ErrorState {...failure} curl={curl} />;
  if (query.isPending) return <Skeleton lines={6} />;
  if (items.length === 0) return empty;
  return (
    <>
      {children(items)}
      {query.hasNextPage && (
        <div className="flex flex-col items-center p-3">
          {query.isFetchNextPageError && <ErrorAlert error={query.error} />}
          <Button className="mt-2" busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            Show more
          </Button>
        </div>
      )}
    </>
  );
}
