import type { Bus } from '../../lib/bus/bus.ts';
import { createCache } from '../../lib/cache.ts';
import type { Clock } from '../../lib/clock.ts';
import { sha256 } from '../../lib/digest.ts';
import { refuse } from '../../lib/errors.ts';
import type { Call } from '../../lib/grpc/contract.ts';
import { effective, LOGIN_SCOPES, SCOPES, type Scope } from './domain/scopes.ts';
import { admit, LOCAL_ADMINISTRATOR, narrowed, type User } from './domain/user.ts';
import type { AccessTokens } from './oidc/access-tokens.ts';
import { isLoginValue } from './oidc/logins.ts';
import type { Sightings } from './sightings.ts';
import type { CredentialStore, KnownLogin, KnownToken } from './store/credentials.ts';
import type { UserStore } from './store/users.ts';
import { claimsToBeToken, isTokenValue } from './token-value.ts';

/** What is known of users and credentials for longer than this is asked for again. */
export const MAX_AGE_MS = 1_000;

export interface Identity {
  user: User;
  scopes: Scope[];
  credential: string;
}

export interface IdentityContext {
  users: Pick<UserStore, 'user'>;
  credentials: Pick<CredentialStore, 'token' | 'login'>;
  sightings: Pick<Sightings, 'note'>;
  bus: Bus;
  clock: Clock;
  /** Whose users get in; undefined in local mode. */
  issuer: string | undefined;
  /** Undefined: those of the identity provider let nobody in. */
  accessTokens: AccessTokens | undefined;
  /** A login that nobody has used for so long has ended. */
  idleMs: number;
}

export type Identities = ReturnType<typeof createIdentities>;

/** Tells who shows a credential, through caches that hints of changes empty at once. */
export function createIdentities(context: IdentityContext) {
  const { credentials, sightings, bus, clock, issuer, accessTokens, idleMs } = context;
  const users = createCache<User | undefined>(clock, MAX_AGE_MS);
  const tokens = createCache<KnownToken | undefined>(clock, MAX_AGE_MS);
  const logins = createCache<KnownLogin | undefined>(clock, MAX_AGE_MS);
  const subscriptions = [
    bus.subscribe('users.changed', (userId) => users.drop(userId)),
    bus.subscribe('credentials.ended', (digest) => {
      tokens.drop(digest);
      logins.drop(digest);
    }),
  ];

  /** What is read is for others, too: it has a place in the trace of whoever came first, and does not end with them. */
  async function identity(userId: string, scopes: readonly Scope[], credential: string, { trace }: Call) {
    const user = admit(await users.get(userId, () => context.users.user(userId, { trace })), issuer);
    sightings.note('usr', userId, user.lastSeenAt);
    return { user: narrowed(user, scopes), scopes: effective(scopes), credential };
  }

  async function byToken(value: string, call: Call): Promise<Identity> {
    const digest = sha256(value);
    const { trace } = call;
    const find = async () => {
      if (!isTokenValue(value)) throw refuse('UNAUTHENTICATED', 'this is no token of this service');
      return credentials.token(digest, { trace });
    };
    const token = await tokens.get(digest, find);
    if (!token) throw refuse('UNAUTHENTICATED', 'there is no such token');
    if (token.expiresAt && token.expiresAt <= clock.now())
      throw refuse('TOKEN_EXPIRED', 'the token has expired');
    const known = await identity(token.userId, token.scopes, token.id, call);
    sightings.note('tok', token.id, token.lastUsedAt);
    return known;
  }

  async function byAccessToken(value: string, call: Call): Promise<Identity> {
    if (!accessTokens) throw refuse('UNAUTHENTICATED', 'this is no token of this service');
    const { userId, scopes } = await accessTokens.verify(value, { trace: call.trace });
    return identity(userId, scopes, 'access_token', call);
  }

  async function byLogin(value: string, call: Call): Promise<Identity> {
    const digest = sha256(value);
    const { trace } = call;
    const find = async () => {
      if (!isLoginValue(value)) throw refuse('UNAUTHENTICATED', 'the login has ended');
      return credentials.login(digest, { trace });
    };
    const login = await logins.get(digest, find);
    const now = clock.now().getTime();
    if (!login || login.endsAt.getTime() <= now || now - login.seenAt.getTime() >= idleMs)
      throw refuse('UNAUTHENTICATED', 'the login has ended');
    const known = await identity(login.userId, LOGIN_SCOPES, login.id, call);
    sightings.note('lgn', login.id, login.seenAt);
    return known;
  }

  return {
    /** Refused with UNAUTHENTICATED, TOKEN_EXPIRED, DEPENDENCY_UNAVAILABLE. */
    async identify({ bearer, login }: { bearer: string; login: string }, call: Call): Promise<Identity> {
      if (issuer === undefined) return identity(LOCAL_ADMINISTRATOR, SCOPES, 'local', call);
      if (claimsToBeToken(bearer)) return byToken(bearer, call);
      if (bearer) return byAccessToken(bearer, call);
      if (login) return byLogin(login, call);
      throw refuse('UNAUTHENTICATED', 'the request carries no credential');
    },
    stop() {
      for (const end of subscriptions) end();
    },
  };
}
