import { randomBytes } from 'node:crypto';
import * as openid from 'openid-client';
import type { Clock } from '../../../lib/clock.ts';
import { sha256 } from '../../../lib/digest.ts';
import { type Refusal, refuse } from '../../../lib/errors.ts';
import type { Ids } from '../../../lib/ids.ts';
import type { Log } from '../../../lib/log.ts';
import { checkReturnPath } from '../../../lib/return-path.ts';
import type { Sealer } from '../../../lib/sealing.ts';
import type { Trace } from '../../../lib/trace.ts';
import type { LoginAuditor } from '../audit-recorder.ts';
import { isComplete, type UserClaims } from '../domain/provider-profile.ts';
import type { LoginStore } from '../store/logins.ts';
import type { UserSync } from '../user-sync.ts';
import { verifyIdToken } from './id-token.ts';
import type { ProviderClient } from './provider.ts';
import { describeFailure } from './provider-error.ts';

interface LoginFlowContext {
  provider: ProviderClient;
  userSync: UserSync;
  store: LoginStore;
  sealer: Sealer;
  clock: Clock;
  ids: Ids;
  log: Log;
  auditLogin: LoginAuditor;
  /** Clears the caches of all replicas for an ended login, by the digest of its value. */
  announceEnd: (digest: string) => Promise<void>;
  /** Origin of the service for browsers, without a slash at its end. */
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

/** The request with which a browser returns from the provider. */
interface LoginCallback {
  attempt: string;
  query: string;
  /** The earlier login of the browser. */
  login: string;
  address?: string | undefined;
}

/** The secrets that tie a response of the provider to an attempt. */
interface Proof {
  nonce: string;
  verifier: string;
}

const ATTEMPT_SECONDS = 600;
const MAX_QUERY_CHARACTERS = 8_192;
const VALUE = /^[\w-]{43}$/;

export type LoginFlow = ReturnType<typeof createLoginFlow>;

/** Logins of browsers: the code flow of OpenID Connect with PKCE, state and nonce. */
export function createLoginFlow(context: LoginFlowContext) {
  const { provider, userSync, store, sealer, clock, ids, log, auditLogin, announceEnd, origin, clientId } =
    context;
  const redirectUri = () => `${origin()}/api/v1/auth/callback`;

  async function end(value: string, options: Options) {
    if (!isLoginValue(value)) return undefined;
    const digest = sha256(value);
    const login = await store.end(digest, options);
    // The end is announced even without a login: a concurrent request may be ending the login, or an earlier request
    // ended it and its response was lost.
    await announceEnd(digest);
    return login;
  }

  /** Exchanges the code in the query for tokens. Returns the ID token and the claims of the user. */
  async function exchangeCode(query: string, state: string, { nonce, verifier }: Proof) {
    const discovered = await provider.get();
    const { client } = discovered;
    const tokens = await openid.authorizationCodeGrant(client, new URL(`${redirectUri()}?${query}`), {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    });
    const { id_token: idToken = '', access_token: accessToken } = tokens;
    const claims: UserClaims = await verifyIdToken(idToken, clientId, discovered);
    const hasUserInfo = client.serverMetadata().userinfo_endpoint !== undefined;
    if (isComplete(claims, context.groupsClaim) || !hasUserInfo) return { idToken, sources: [claims] };
    const userInfo: UserClaims = await openid.fetchUserInfo(client, accessToken, String(claims.sub));
    return { idToken, sources: [claims, userInfo] };
  }

  /** Opens the sealed proof and exchanges the code. Fails with LOGIN_FAILED; only the log has the reason. */
  async function verifyCallback(query: string, state: string, sealedProof: string) {
    try {
      return await exchangeCode(query, state, JSON.parse(sealer.open(sealedProof, state)) as Proof);
    } catch (error) {
      log.warn({ reason: describeFailure(error) }, 'a login failed');
      throw loginFailed();
    }
  }

  return {
    /** Starts a login. Fails with DEPENDENCY_UNAVAILABLE. */
    async begin(returnTo: string, options: Options) {
      const { client } = await provider.get().catch((error: unknown) => {
        log.warn({ reason: describeFailure(error) }, 'the identity provider cannot be reached');
        throw refuse('DEPENDENCY_UNAVAILABLE', 'The identity provider cannot be reached.');
      });
      const attempt = newValue();
      const state = openid.randomState();
      const proof: Proof = { nonce: openid.randomNonce(), verifier: openid.randomPKCECodeVerifier() };
      await store.begin(
        {
          digest: sha256(attempt),
          state,
          sealedProof: sealer.seal(JSON.stringify(proof), state),
          returnTo: checkReturnPath(returnTo),
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

    /** Completes a login. Fails with LOGIN_FAILED; only the log has the reason. */
    async finish({ attempt, query, login, address = '' }: LoginCallback, options: Options) {
      const [state = '', ...more] = new URLSearchParams(query).getAll('state');
      if (!isLoginValue(attempt) || query.length > MAX_QUERY_CHARACTERS || more.length > 0)
        throw loginFailed();
      const found = await store.consume(sha256(attempt), state, options);
      if (!found || found.endsAt <= clock.now()) throw loginFailed();
      const { idToken, sources } = await verifyCallback(query, state, found.sealedProof);
      const user = await userSync.syncLogin(sources, options);
      if (!user?.enabled) throw loginFailed();
      await end(login, options);
      const value = newValue();
      const loginId = ids('lgn');
      const createdAt = clock.now();
      await auditLogin({ action: 'login.begin', userId: user.userId, loginId, address }, options);
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
      return { login: value, lifetimeSeconds: context.maxSeconds, user, returnTo: found.returnTo };
    },

    /** Ends a login. Returns the URL that ends it at the provider; empty when there is none. */
    async end(value: string, address: string, options: Options): Promise<string> {
      const login = await end(value, options);
      if (!login) return '';
      const { userId, loginId } = login;
      // The login has ended even when the audit entry cannot be written.
      await auditLogin({ action: 'login.end', userId, loginId, address }, options).catch((error: unknown) =>
        log.warn({ err: error, login_id: loginId }, 'the end of a login is missing in the audit log'),
      );
      try {
        const { client } = await provider.get();
        if (!client.serverMetadata().end_session_endpoint) return '';
        const idToken = sealer.open(login.sealedIdToken, login.loginId);
        const parameters = { id_token_hint: idToken, post_logout_redirect_uri: `${origin()}/` };
        return openid.buildEndSessionUrl(client, parameters).href;
      } catch (error) {
        log.warn(
          { reason: describeFailure(error) },
          'a login has ended at this service but not at the identity provider',
        );
        return '';
      }
    },
  };
}

/** Whether the text has the format of a login or of an attempt. */
export function isLoginValue(text: string): boolean {
  return VALUE.test(text);
}

function newValue(): string {
  return randomBytes(32).toString('base64url');
}

function loginFailed(): Refusal {
  return refuse('LOGIN_FAILED', 'The login could not be completed. Start again.');
}
