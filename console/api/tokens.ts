import { type CreateTokenData, createToken, deleteToken, listTokens } from '../gen/index.ts';
import { unwrapData, unwrapPage } from './client.ts';
import { pagedQuery } from './pages.ts';

/** Queries and mutations of the user's own personal access tokens. Query keys begin with `tokens`. */
export const tokens = {
  list: () =>
    pagedQuery(['tokens', 'list'], (cursor, signal) => unwrapPage(listTokens({ query: { cursor }, signal }))),
  /** The response contains the token value, which is shown only once. Never put it into the query cache. */
  create: (body: CreateTokenData['body'], key: string) =>
    unwrapData(createToken({ body, headers: { 'Idempotency-Key': key } })),
  remove: (tokenId: string) => unwrapData(deleteToken({ path: { token_id: tokenId } })),
};
