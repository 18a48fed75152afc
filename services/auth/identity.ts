import type { Bus } from '../../lib/bus/bus.ts';
import { createCache } from '../../lib/cache.ts';
import type { Clock } from '../../lib/clock.ts';
import { sha256 } from '../../lib/digest.ts';
import { refuse } from '../../lib/errors.ts';
import type { Call } from '../../lib/grpc/contract.ts';
import { effectiveScopes, LOGIN_SCOPES, SCOPES, type Scope } from './domain/scopes.ts';
import { LOCAL_ADMINISTRATOR, requireEnabledUser, restrictRoles, type User } from './domain/user.ts';
import type { LastSeenWriter } from './last-seen.ts';
import type { AccessTokens } from './oidc/access-tokens.ts';
import { isLoginValue } from './oidc/login-flow.ts';
import type { CredentialStore, LoginRecord, TokenRecord } from './store/credentials.ts';
import type { UserStore } from './store/users.ts';
import { hasTokenPrefix, isTokenValue } from './token-value.ts';

/** Cached users and credentials are loaded again after this time. */
export const IDENTITY_CACHE_MS = 1_000;

export interface Identity {
  user: User;
  scopes: Scope[];
  credential: string;
  /** The edge may use the identity again until then, in milliseconds since the epoch. */
  validUntil: number;
}

/** A cached fact. */
interface Fact<Value> {
  value: Value;
  /** The time at which it is loaded again, in milliseconds since the epoch. */
  freshUntil: number;
}

export interface PresentedCredential {
  bearer: string;
  login: string;
  /** The URL of the protocol endpoint that the request addresses. Access tokens may have it as audience. */
  resource?: string | undefined;
  /** IP address of the client. */
  address?: string | undefined;
  /** The check of a long-lived response, which limits do not count. */
  again?: boolean | undefined;
}

interface IdentityContext {
  users: Pick<UserStore, 'user'>;
  credentials: Pick<CredentialStore, 'token' | 'login'>;
  lastSeen: Pick<LastSeenWriter, 'record'>;
  bus: Bus;
  clock: Clock;
  /** Issuer of the users that have access; undefined in local mode. */
  issuer: string | undefined;
  /** Undefined: access tokens of the identity provider are rejected. */
  accessTokens: AccessTokens | undefined;
  /** A login ends when it has not been used for this time. */
  idleMs: number;
}

interface VerifiedCredential {
  id: string;
  scopes: readonly Scope[];
  /** Milliseconds since the epoch. */
  validUntil: number;
}

const LOCAL_CREDENTIAL = { id: 'local', scopes: SCOPES, validUntil: Number.POSITIVE_INFINITY };

export type Identifier = ReturnType<typeof createIdentifier>;

/** Identifies the user of a credential. Reads through caches that change hints clear immediately. */
export function createIdentifier(context: IdentityContext) {
  const { credentials, lastSeen, bus, clock, issuer, accessTokens, idleMs } = context;
  const users = createCache<Fact<User | undefined>>(clock, IDENTITY_CACHE_MS);
  const tokens = createCache<Fact<TokenRecord | undefined>>(clock, IDENTITY_CACHE_MS);
  const logins = createCache<Fact<LoginRecord | undefined>>(clock, IDENTITY_CACHE_MS);
  const subscriptions = [
    bus.subscribe('users.changed', (userId) => users.drop(userId)),
    bus.subscribe('credentials.ended', (digest) => {
      tokens.drop(digest);
      logins.drop(digest);
    }),
  ];

  /** Concurrent requests share a load. It is traced with the first request and ignores its cancellation. */
  async function identity(
    userId: string,
    { id, scopes, validUntil }: VerifiedCredential,
    { trace }: Call,
  ): Promise<Identity> {
    const fact = await users.get(
      userId,
      loading(() => context.users.user(userId, { trace })),
    );
    const user = requireEnabledUser(fact.value, issuer);
    lastSeen.record('usr', userId, user.lastSeenAt);
    return {
      user: restrictRoles(user, scopes),
      scopes: effectiveScopes(scopes),
      credential: id,
      validUntil: Math.min(validUntil, fact.freshUntil),
    };
  }

  async function byToken(value: string, call: Call): Promise<Identity> {
    const digest = sha256(value);
    const { trace } = call;
    const find = async () => {
      if (!isTokenValue(value)) throw refuse('UNAUTHENTICATED', 'The bearer token is malformed.');
      return credentials.token(digest, { trace });
    };
    const { value: token, freshUntil } = await tokens.get(digest, loading(find));
    if (!token) throw refuse('UNAUTHENTICATED', 'Unknown bearer token.');
    if (token.expiresAt && token.expiresAt <= clock.now())
      throw refuse('TOKEN_EXPIRED', 'The bearer token has expired.');
    const validUntil = Math.min(freshUntil, token.expiresAt?.getTime() ?? freshUntil);
    const found = await identity(token.userId, { id: token.id, scopes: token.scopes, validUntil }, call);
    lastSeen.record('tok', token.id, token.lastUsedAt);
    return found;
  }

  async function byAccessToken(
    { bearer, resource, address, again }: PresentedCredential,
    call: Call,
  ): Promise<Identity> {
    if (!accessTokens) throw refuse('UNAUTHENTICATED', 'The bearer token is malformed.');
    const { userId, scopes, validUntil } = await accessTokens.verify(bearer, {
      trace: call.trace,
      resource,
      address,
      again,
    });
    return identity(userId, { id: 'access_token', scopes, validUntil }, call);
  }

  async function byLogin(value: string, call: Call): Promise<Identity> {
    const digest = sha256(value);
    const { trace } = call;
    const find = async () => {
      if (!isLoginValue(value)) throw refuse('UNAUTHENTICATED', 'The login has ended.');
      return credentials.login(digest, { trace });
    };
    const { value: login, freshUntil } = await logins.get(digest, loading(find));
    const now = clock.now().getTime();
    const idleUntil = (login?.seenAt.getTime() ?? 0) + idleMs;
    if (!login || login.endsAt.getTime() <= now || idleUntil <= now)
      throw refuse('UNAUTHENTICATED', 'The login has ended.');
    const validUntil = Math.min(freshUntil, login.endsAt.getTime(), idleUntil);
    const found = await identity(login.userId, { id: login.id, scopes: LOGIN_SCOPES, validUntil }, call);
    lastSeen.record('lgn', login.id, login.seenAt);
    return found;
  }

  return {
    /** Fails with UNAUTHENTICATED, TOKEN_EXPIRED or DEPENDENCY_UNAVAILABLE. */
    async identify(presented: PresentedCredential, call: Call): Promise<Identity> {
      const { bearer, login } = presented;
      if (issuer === undefined) return identity(LOCAL_ADMINISTRATOR, LOCAL_CREDENTIAL, call);
      if (hasTokenPrefix(bearer)) return byToken(bearer, call);
      if (bearer) return byAccessToken(presented, call);
      if (login) return byLogin(login, call);
      throw refuse('UNAUTHENTICATED', 'The request has no credential.');
    },
    stop() {
      for (const unsubscribe of subscriptions) unsubscribe();
    },
  };
}

/** Returns the load of a fact for a cache. */
function loading<Value>(find: () => Promise<Value>): (startedAt: number) => Promise<Fact<Value>> {
  return async (startedAt) => ({ value: await find(), freshUntil: startedAt + IDENTITY_CACHE_MS });
}
