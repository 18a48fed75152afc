import { queryOptions } from '@tanstack/react-query';
import { type CreateTokenData, createToken, deleteToken, listTokens } from '../gen/index.ts';
import { unwrapData, unwrapPage } from './client.ts';
import { pagedQuery } from './pages.ts';

const NAMES_STALE_AFTER_MS = 60_000;
/** Pages of the look-up of names: 1,000 tokens. */
const MAX_NAME_PAGES = 10;

/** Queries and mutations of the user's own personal access tokens. Query keys begin with `tokens`. */
export const tokens = {
  list: () =>
    pagedQuery(['tokens', 'list'], (cursor, signal) => unwrapPage(listTokens({ query: { cursor }, signal }))),
  /** The names of the user's tokens by their ids. */
  names: () =>
    queryOptions({
      queryKey: ['tokens', 'names'],
      queryFn: ({ signal }) => readNames(signal),
      staleTime: NAMES_STALE_AFTER_MS,
    }),
  /** The response contains the token value, which is shown only once. Never put it into the query cache. */
  create: (body: CreateTokenData['body'], key: string) =>
    unwrapData(createToken({ body, headers: { 'Idempotency-Key': key } })),
  remove: (tokenId: string) => unwrapData(deleteToken({ path: { token_id: tokenId } })),
};

async function readNames(signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
  const names: Record<string, string> = {};
  let cursor: string | undefined;
  for (let page = 0; page < MAX_NAME_PAGES; page++) {
    const { items, next } = await unwrapPage(listTokens({ query: { cursor, limit: 100 }, signal }));
    for (const { token_id: id, name } of items) names[id] = name;
    if (next === undefined) break;
    cursor = next;
  }
  return names;
}
