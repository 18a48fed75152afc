import { type CreateTokenData, createToken, deleteToken, listTokens } from '../gen/index.ts';
import { ask, askPage } from './client.ts';
import { pagesOf } from './pages.ts';

/** One's own personal access tokens. Keys begin with `tokens`. */
export const tokens = {
  list: () =>
    pagesOf(['tokens', 'list'], (cursor, signal) => askPage(listTokens({ query: { cursor }, signal }))),
  /** The answer holds the value, this one time: it belongs into no cache. */
  create: (body: CreateTokenData['body'], key: string) =>
    ask(createToken({ body, headers: { 'Idempotency-Key': key } })),
  remove: (tokenId: string) => ask(deleteToken({ path: { token_id: tokenId } })),
};
