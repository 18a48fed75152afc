import { sha256 } from '../../../lib/digest.ts';
import { callerOf, hasLogin } from '../../../lib/grpc/caller.ts';
import type { Call, Caller, Handlers } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import {
  type AuthServiceDefinition,
  CreateTokenRequest,
  CreateTokenResponse,
} from '../../../proto/gen/ahs/auth/v1/auth.ts';
import { checkPage } from '../domain/page.ts';
import { checkScopes } from '../domain/scopes.ts';
import { checkTokenName, expiryAfter, loginRequired, type Token, tokenNotFound } from '../domain/token.ts';
import { checkAdminScopeAllowed } from '../domain/user.ts';
import { hintOf, newTokenValue } from '../token-value.ts';
import type { AuthHandlerContext } from './context.ts';

type Methods = Pick<Handlers<AuthServiceDefinition>, 'createToken' | 'listTokens' | 'deleteToken'>;

export function tokenHandlers({ tokens, record, clock, ids, announce }: AuthHandlerContext): Methods {
  function ownerOf(call: Call): Caller {
    const caller = callerOf(call);
    if (!hasLogin(caller)) throw loginRequired();
    return caller;
  }

  return {
    async createToken(request, call) {
      const { userId, roles } = ownerOf(call);
      const name = checkTokenName(request.name);
      const scopes = checkScopes(request.scopes);
      if (scopes.includes('admin')) checkAdminScopeAllowed(roles);
      const now = clock.now();
      const expiresAt = expiryAfter(request.expiresInDays, now);
      const value = newTokenValue();
      const token: Token = {
        tokenId: ids('tok'),
        name,
        scopes,
        hint: hintOf(value),
        createdAt: now,
        expiresAt,
        lastUsedAt: undefined,
      };
      const creation = {
        userId,
        token,
        digest: sha256(value),
        idempotencyKey: request.idempotencyKey,
        request: CreateTokenRequest.encode({ ...request, idempotencyKey: '' }),
        response: CreateTokenResponse.encode({ token, value: '', replayed: false }).finish(),
      };
      await record({ action: 'token.create', targetId: token.tokenId, data: { name, scopes } }, call);
      const { answer, replayed } = await tokens.create(creation, call);
      if (!replayed) return { token, value, replayed };
      return { ...CreateTokenResponse.decode(answer), replayed };
    },

    async listTokens({ page }, call) {
      const { userId } = ownerOf(call);
      const { rows, nextCursor } = await tokens.list(userId, checkPage(page), call);
      return { tokens: rows, page: { nextCursor } };
    },

    async deleteToken({ tokenId }, call) {
      const { userId } = ownerOf(call);
      if (!isId('tok', tokenId)) throw tokenNotFound();
      await record({ action: 'token.delete', targetId: tokenId }, call);
      const digest = await tokens.remove(userId, tokenId, call);
      if (digest === undefined) throw tokenNotFound();
      await announce('credentials.ended', digest);
      return {};
    },
  };
}
