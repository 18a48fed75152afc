import { QueryClient } from '@tanstack/react-query';
import { describe, expect, it } from 'vitest';
import { pagesOf } from '../../console/api/pages.ts';

const FOLLOW_MS = 5_000;

/** How soon a list is read again of which so many pages have been read. */
async function followedAfter(pages: number, followMs?: number): Promise<unknown> {
  const queries = new QueryClient();
  const list = pagesOf<number>(['numbers'], async (cursor = '0') => page(Number(cursor)), followMs);
  await queries.fetchInfiniteQuery({ ...list, pages });
  const { refetchInterval } = list;
  if (typeof refetchInterval !== 'function') throw new Error('it does not depend on what was read');
  type Read = Parameters<typeof refetchInterval>[0];
  const query = queries.getQueryCache().find({ queryKey: list.queryKey });
  return refetchInterval(query as Read);
}

const page = (number: number) => ({ items: [number], next: String(number + 1) });

describe('a list that is read page by page', () => {
  it('is read again and again while somebody looks at it, if it is to be followed', async () => {
    expect(await followedAfter(1, FOLLOW_MS)).toBe(FOLLOW_MS);
    expect(await followedAfter(1)).toBe(false);
  });

  it('is not once it has been read far down: each time would take a request per page', async () => {
    expect(await followedAfter(4, FOLLOW_MS)).toBe(FOLLOW_MS);
    expect(await followedAfter(5, FOLLOW_MS)).toBe(false);
  });
});
