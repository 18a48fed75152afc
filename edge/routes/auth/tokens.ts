import { list, ok } from '../../envelope.ts';
import { idempotencyKey } from '../../input/headers.ts';
import { route } from '../../route.ts';
import { NewTokenShape, serializeToken, TokenCreationBody, TokenShape } from '../../schemas/auth.ts';
import { closed, deleted, id, pageRequest, paging } from '../../schemas/common.ts';
import { replayed } from '../replayed.ts';

export const tokenRoutes = [
  route({
    method: 'POST',
    path: '/auth/tokens',
    operationId: 'createToken',
    tag: 'Authentication',
    summary: 'Create a personal access token',
    description:
      'The value is returned only once, in this response. Programs send it as `Authorization: Bearer …`. Tokens cannot be ' +
      'created, listed or deleted with a token.',
    headers: ['Idempotency-Key'],
    body: TokenCreationBody,
    example: { name: 'Nightly build', scopes: ['write'], expires_in_days: 90 },
    success: { status: 201, description: 'The new token.', data: NewTokenShape, secret: true },
    errors: ['FORBIDDEN'],
    async answer({ clients, call, body, request }) {
      const {
        token,
        value,
        replayed: isReplay,
      } = await clients.auth.createToken(
        {
          name: body.name,
          scopes: body.scopes,
          expiresInDays: body.expires_in_days,
          idempotencyKey: idempotencyKey(request.raw),
        },
        call,
      );
      return ok({ ...serializeToken(token), value: value || null }, replayed(isReplay));
    },
  }),

  route({
    method: 'GET',
    path: '/auth/tokens',
    operationId: 'listTokens',
    tag: 'Authentication',
    summary: 'List your personal access tokens',
    description: 'Newest first. Expired tokens are listed until they are deleted.',
    query: closed(paging),
    success: { status: 200, description: 'A page of tokens.', data: TokenShape, list: true },
    errors: ['FORBIDDEN', 'INVALID_CURSOR'],
    async answer({ clients, call, query }) {
      const { tokens, page } = await clients.auth.listTokens({ page: pageRequest(query) }, call);
      return list(tokens.map(serializeToken), page);
    },
  }),

  route({
    method: 'DELETE',
    path: '/auth/tokens/{token_id}',
    operationId: 'deleteToken',
    tag: 'Authentication',
    summary: 'Delete a personal access token',
    description: 'The token becomes invalid immediately.',
    success: {
      status: 200,
      description: 'The token was deleted.',
      data: deleted('token', id('tok', 'the token')),
    },
    errors: ['FORBIDDEN', 'TOKEN_NOT_FOUND'],
    async answer({ clients, call, param }) {
      const tokenId = param('token_id');
      await clients.auth.deleteToken({ tokenId }, call);
      return ok({ token_id: tokenId, deleted: true });
    },
  }),
];
