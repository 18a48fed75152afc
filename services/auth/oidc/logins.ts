import { randomBytes } from 'node:crypto';
import * as openid from 'openid-client';
import type { Clock } from '../../../lib/clock.ts';
import { sha256 } from '../../../lib/digest.ts';
import { type Refusal, refuse } from '../../../lib/errors.ts';
import type { Ids } from '../../../lib/ids.ts';
import type { Log } from '../../../lib/log.ts';
import type { Sealer } from '../../../lib/sealing.ts';
import type { Trace } from '../../../lib/trace.ts';
import { type Claims, isComplete } from '../domain/person.ts';
import { ownPath } from '../domain/return-to.ts';
import type { People } from '../people.ts';
import type { NoteLogin } from '../recorder.ts';
import type { LoginStore } from '../store/logins.ts';
import { reasonOf } from './failure.ts';
import { verifyIdToken } from './id-token.ts';
import type { Provider } from './provider.ts';

export interface LoginsContext {
  provider: Provider;
  people: People;
  store: LoginStore;
  sealer: Sealer;
  clock: Clock;
  ids: Ids;
  log: Log;
  note: NoteLogin;
  /** Tells every replica that a login, by the digest of its value, is worth nothing any more. */
  ended: (digest: string) => Promise<void>;
  /** Where browsers reach the service: an origin, without a slash at its end. */
  origin: () => string;
  clientId: string;
  scopes: string;
  groupsClaim: string;
  maxSeconds: number;
}

interface Options {
  trace: Trace;
  requestId?: string | undefined;
}

/** A browser comes back from the provider. */
interface Return {
  attempt: string;
  query: string;
  /** The login that it had. */
  login: string;
  address?: string | undefined;
}

/** What proves that an answer belongs to an attempt. */
interface Proof {
  nonce: string;
  verifier: string;
}

const ATTEMPT_SECONDS = 600;
const MAX_QUERY_CHARACTERS = 8_192;
const VALUE = /^[\w-]{43}$/;

export type Logins = ReturnType<typeof createLogins>;

/** Logins of browsers: the code flow of OpenID Connect with PKCE, state and nonce. */
export function createLogins(context: LoginsContext) {
  const { provider, people, store, sealer, clock, ids, log, note, ended, origin, clientId } = context;
  const redirectUri = () => `${origin()}/api/v1/auth/callback`;

  async function end(value: string, options: Options) {
    if (!isLoginValue(value)) return undefined;
    const digest = sha256(value);
    const login = await store.end(digest, options);
    // Also when there was none: somebody else may be ending it, or the answer was lost.
    await ended(digest);
    return login;
  }

  /** What the provider says of whoever it sends back with this query, after its proof. */
  async function claimsIn(query: string, state: string, { nonce, verifier }: Proof) {
    const discovered = await provider.get();
    const { client } = discovered;
    const tokens = await openid.authorizationCodeGrant(client, new URL(`${redirectUri()}?${query}`), {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    });
    const { id_token: idToken = '', access_token: accessToken } = tokens;
    const claims: Claims = await verifyIdToken(idToken, clientId, discovered);
    const hasMore = client.serverMetadata().userinfo_endpoint !== undefined;
    if (isComplete(claims, context.groupsClaim) || !hasMore) return { idToken, sources: [claims] };
    const more: Claims = await openid.fetchUserInfo(client, accessToken, String(claims.sub));
    return { idToken, sources: [claims, more] };
  }

  /** The same, for the attempt that it belongs to. Only the log tells why it fails. */
  async function proven(query: string, state: string, sealedProof: string) {
    try {
      return await claimsIn(query, state, JSON.parse(sealer.open(sealedProof, state)) as Proof);
    } catch (error) {
      log.warn({ reason: reasonOf(error) }, 'a login failed');
      throw failed();
    }
  }

  return {
    /** Refused with DEPENDENCY_UNAVAILABLE. */
    async begin(returnTo: string, options: Options) {
      const { client } = await provider.get().catch((error: unknown) => {
        log.warn({ reason: reasonOf(error) }, 'the identity provider cannot be asked');
        throw refuse('DEPENDENCY_UNAVAILABLE', 'the identity provider cannot be reached');
      });
      const attempt = newValue();
      const state = openid.randomState();
      const proof: Proof = { nonce: openid.randomNonce(), verifier: openid.randomPKCECodeVerifier() };
      await store.begin(
        {
          digest: sha256(attempt),
          state,
          sealedProof: sealer.seal(JSON.stringify(proof), state),
          returnTo: ownPath(returnTo),
          endsAt: new Date(clock.now().getTime() + ATTEMPT_SECONDS * 1_000),
        },
        options,
      );
      const url = openid.buildAuthorizationUrl(client, {
        redirect_uri: redirectUri(),
        scope: context.scopes,
        state,
        nonce: proof.nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(proof.verifier),
        code_challenge_method: 'S256',
      });
      return { authorizationUrl: url.href, attempt, lifetimeSeconds: ATTEMPT_SECONDS };
    },

    /** Refused with LOGIN_FAILED, whatever the reason: only the log tells it. */
    async finish({ attempt, query, login, address = '' }: Return, options: Options) {
      const [state = '', ...more] = new URLSearchParams(query).getAll('state');
      if (!isLoginValue(attempt) || query.length > MAX_QUERY_CHARACTERS || more.length > 0) throw failed();
      const taken = await store.take(sha256(attempt), state, options);
      if (!taken || taken.endsAt <= clock.now()) throw failed();
      const { idToken, sources } = await proven(query, state, taken.sealedProof);
      const user = await people.loggedIn(sources, options);
      if (!user?.enabled) throw failed();
      await end(login, options);
      const value = newValue();
      const loginId = ids('lgn');
      const createdAt = clock.now();
      await note({ action: 'login.begin', userId: user.userId, loginId, address }, options);
      await store.add(
        {
          loginId,
          digest: sha256(value),
          userId: user.userId,
          sealedIdToken: sealer.seal(idToken, loginId),
          createdAt,
          endsAt: new Date(createdAt.getTime() + context.maxSeconds * 1_000),
        },
        options,
      );
      return { login: value, lifetimeSeconds: context.maxSeconds, user, returnTo: taken.returnTo };
    },

    /** Ends it here, and says where it ends at the provider, if that can be known. */
    async end(value: string, address: string, options: Options): Promise<string> {
      const login = await end(value, options);
      if (!login) return '';
      const { userId, loginId } = login;
      // It has ended, whatever becomes of this.
      await note({ action: 'login.end', userId, loginId, address }, options).catch((error: unknown) =>
        log.warn({ err: error, login_id: loginId }, 'that a login has ended was not written down'),
      );
      try {
        const { client } = await provider.get();
        if (!client.serverMetadata().end_session_endpoint) return '';
        const idToken = sealer.open(login.sealedIdToken, login.loginId);
        const parameters = { id_token_hint: idToken, post_logout_redirect_uri: `${origin()}/` };
        return openid.buildEndSessionUrl(client, parameters).href;
      } catch (error) {
        log.warn({ reason: reasonOf(error) }, 'a login ends here, but not at the identity provider');
        return '';
      }
    },
  };
}

/** Whether a text could be the value of a login, or of an attempt. */
export function isLoginValue(text: string): boolean {
  return VALUE.test(text);
}

function newValue(): string {
  return randomBytes(32).toString('base64url');
}

function failed(): Refusal {
  return refuse('LOGIN_FAILED', 'the login could not be finished; begin again');
}
