import { QueryClient } from '@tanstack/react-query';
import { describe, expect, it } from 'vitest';
import { type ListPolling, pagedQuery } from '../../console/api/pages.ts';

const POLLING: ListPolling<number> = {
  active: 3_000,
  idle: 15_000,
  recent: 10_000,
  isActive: (number) => number === 2,
};

/** Returns the refetch interval of a list after the given number of pages has been loaded. Page n has the item n. */
async function refetchIntervalAfter(pages: number, polling?: ListPolling<number>): Promise<unknown> {
  const queries = new QueryClient();
  const list = pagedQuery<number>(['numbers'], async (cursor = '0') => page(Number(cursor)), polling);
  await queries.fetchInfiniteQuery({ ...list, pages });
  const { refetchInterval } = list;
  if (typeof refetchInterval !== 'function') throw new Error('refetchInterval is not a function');
  type ListQuery = Parameters<typeof refetchInterval>[0];
  const query = queries.getQueryCache().find({ queryKey: list.queryKey });
  return refetchInterval(query as ListQuery);
}

const page = (number: number) => ({ items: [number], next: String(number + 1) });

describe('pagedQuery', () => {
  it('refetches a list at its idle interval, and not at all without intervals', async () => {
    expect(await refetchIntervalAfter(1, POLLING)).toBe(POLLING.idle);
    expect(await refetchIntervalAfter(1)).toBe(false);
  });

  it('refetches a list with an active item on any page at its active interval', async () => {
    expect(await refetchIntervalAfter(3, POLLING)).toBe(POLLING.active);
  });

  it('stops refetching once more than four pages are loaded', async () => {
    expect(await refetchIntervalAfter(4, POLLING)).toBe(POLLING.active);
    expect(await refetchIntervalAfter(5, POLLING)).toBe(false);
  });
});
