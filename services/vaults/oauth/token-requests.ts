import type * as OAuth from 'oauth4webapi';
import type { Clock } from '../../../lib/clock.ts';
import type { OutboundClient } from '../../../lib/outbound/outbound-client.ts';
import { OutboundError } from '../../../lib/outbound/outbound-error.ts';
import { Secret } from '../../../lib/secret.ts';
import { type OAuthMembers, scopesIn, type TokenGrant } from '../domain/oauth.ts';
import { TokenError } from './token-error.ts';

/** The client at an issuer, and where its tokens are. */
export interface TokenClient extends OAuthMembers {
  clientSecret: Secret | undefined;
}

/** The answer of an authorization server, as the browser brought it. */
export interface AuthorizationAnswer {
  /** The query of the redirect, not decoded. */
  query: Secret;
  state: string;
  verifier: Secret;
  redirectUri: string;
  /** Whether the issuer promises to name itself in its answers (RFC 9207). */
  namesIssuer: boolean;
  /** The algorithms with which the issuer signs ID tokens. Undefined: RS256. */
  signatures: string[] | undefined;
}

export type TokenRequests = ReturnType<typeof createTokenRequests>;

const LIMITS = { responseBytes: 256 * 1024, silenceMs: 10_000, totalMs: 10_000 };
const MAX_TOKEN_CHARACTERS = 16 * 1024;
const MAX_ACCOUNT_CHARACTERS = 200;
/** Clients and issuers whose clocks differ by less than this understand each other. */
const CLOCK_TOLERANCE_SECONDS = 30;

/** Requests to the token endpoints of issuers. All of them throw TokenError. */
export function createTokenRequests(outbound: OutboundClient, clock: Clock) {
  const send = outbound.fetchWith(LIMITS);

  async function open({ tokenEndpoint, issuer, revocationEndpoint, ...client }: TokenClient) {
    const oauth = await import('oauth4webapi');
    const server: OAuth.AuthorizationServer = {
      issuer: issuer === '' ? new URL(tokenEndpoint).origin : issuer,
      token_endpoint: tokenEndpoint,
      ...(revocationEndpoint !== '' && { revocation_endpoint: revocationEndpoint }),
    };
    // The outbound client permits http to the private hosts of the operator alone.
    const options = (signal?: AbortSignal) => ({
      [oauth.customFetch]: send as never,
      [oauth.allowInsecureRequests]: true,
      ...(signal && { signal }),
    });
    const metadata: OAuth.Client = {
      client_id: client.clientId,
      [oauth.clockTolerance]: CLOCK_TOLERANCE_SECONDS,
    };
    return { oauth, server, metadata, authenticate: authentication(oauth, client), options };
  }

  function grantOf(
    { access_token, token_type, expires_in, refresh_token, scope }: OAuth.TokenEndpointResponse,
    account = '',
  ): TokenGrant {
    if (token_type !== 'bearer')
      throw new TokenError('refused', 'The issuer granted a token that is not a bearer token.');
    for (const token of [access_token, refresh_token ?? ''])
      if (token.length > MAX_TOKEN_CHARACTERS || !/^[!-~]*$/.test(token))
        throw new TokenError('refused', 'The issuer granted a token that cannot be stored.');
    return {
      accessToken: new Secret(access_token),
      refreshToken: refresh_token ? new Secret(refresh_token) : undefined,
      expiresAt: expires_in === undefined ? undefined : new Date(clock.now().getTime() + expires_in * 1_000),
      scopes: scope === undefined ? undefined : scopesIn(scope),
      account,
    };
  }

  return {
    /** Exchanges the code of an answer for tokens, after the checks of its state and issuer (RFC 9207). */
    async exchange(
      client: TokenClient,
      answer: AuthorizationAnswer,
      signal?: AbortSignal,
    ): Promise<TokenGrant> {
      const { oauth, metadata, authenticate, options, ...opened } = await open(client);
      const { namesIssuer, signatures, redirectUri, verifier } = answer;
      const server: OAuth.AuthorizationServer = {
        ...opened.server,
        authorization_response_iss_parameter_supported: namesIssuer,
        ...(signatures && { id_token_signing_alg_values_supported: signatures }),
      };
      try {
        const query = new URLSearchParams(answer.query.reveal());
        const parameters = oauth.validateAuthResponse(server, metadata, query, answer.state);
        const response = await oauth.authorizationCodeGrantRequest(
          server,
          metadata,
          authenticate,
          parameters,
          redirectUri,
          verifier.reveal(),
          { ...options(signal), additionalParameters: resourceOf(client) },
        );
        const tokens = await oauth.processAuthorizationCodeResponse(server, metadata, response);
        return grantOf(tokens, accountOf(oauth.getValidatedIdTokenClaims(tokens)));
      } catch (error) {
        signal?.throwIfAborted();
        throw toTokenError(oauth, error, signal);
      }
    },

    async refresh(client: TokenClient, refreshToken: Secret, signal?: AbortSignal): Promise<TokenGrant> {
      const { oauth, server, metadata, authenticate, options } = await open(client);
      try {
        const response = await oauth.refreshTokenGrantRequest(
          server,
          metadata,
          authenticate,
          refreshToken.reveal(),
          { ...options(signal), additionalParameters: resourceOf(client) },
        );
        return grantOf(await oauth.processRefreshTokenResponse(server, metadata, response));
      } catch (error) {
        throw toTokenError(oauth, error, signal);
      }
    },

    /** Requests a token for the client itself. */
    async clientCredentials(client: TokenClient, signal?: AbortSignal): Promise<TokenGrant> {
      const { oauth, server, metadata, authenticate, options } = await open(client);
      const { scopes } = client;
      const parameters = {
        ...resourceOf(client),
        ...(scopes.length > 0 && { scope: scopes.join(' ') }),
      };
      try {
        const response = await oauth.clientCredentialsGrantRequest(
          server,
          metadata,
          authenticate,
          parameters,
          options(signal),
        );
        return grantOf(await oauth.processClientCredentialsResponse(server, metadata, response));
      } catch (error) {
        throw toTokenError(oauth, error, signal);
      }
    },

    /** Revokes a token (RFC 7009). Does nothing if the issuer revokes no tokens. */
    async revoke(client: TokenClient, token: Secret, signal?: AbortSignal): Promise<void> {
      if (client.revocationEndpoint === '') return;
      const { oauth, server, metadata, authenticate, options } = await open(client);
      try {
        const response = await oauth.revocationRequest(
          server,
          metadata,
          authenticate,
          token.reveal(),
          options(signal),
        );
        await oauth.processRevocationResponse(response);
      } catch (error) {
        throw toTokenError(oauth, error, signal);
      }
    },
  };
}

const STATE = /^[\w-]{43}$/;

/** The state of an answer; undefined for a query without exactly one valid state. */
export function stateIn(query: Secret): string | undefined {
  const [state, ...others] = new URLSearchParams(query.reveal()).getAll('state');
  return state !== undefined && others.length === 0 && STATE.test(state) ? state : undefined;
}

type Library = typeof OAuth;

function authentication(
  oauth: Library,
  { clientAuthentication, clientSecret }: Pick<TokenClient, 'clientAuthentication' | 'clientSecret'>,
): OAuth.ClientAuth {
  if (clientAuthentication === 'none' || !clientSecret) return oauth.None();
  const text = clientSecret.reveal();
  return clientAuthentication === 'client_secret_post'
    ? oauth.ClientSecretPost(text)
    : basicAuthentication(text);
}

/** That of the library encodes `-`, `.` and `_`, too, and some issuers compare the id without decoding it. */
function basicAuthentication(secret: string): OAuth.ClientAuth {
  return (_server, { client_id: id }, _body, headers) => {
    const credentials = [id, secret].map(formEncoded).join(':');
    headers.set('authorization', `Basic ${Buffer.from(credentials).toString('base64')}`);
  };
}

/** application/x-www-form-urlencoded, as RFC 6749 requires it (section 2.3.1). */
function formEncoded(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}

function resourceOf({ resource }: OAuthMembers): Record<string, string> {
  return resource === '' ? {} : { resource };
}

function accountOf(claims: OAuth.IDToken | undefined): string {
  const names = [claims?.email, claims?.preferred_username, claims?.sub];
  const name = names.find((one) => typeof one === 'string' && one !== '');
  return typeof name === 'string' ? name.replace(/\p{Cc}/gu, '').slice(0, MAX_ACCOUNT_CHARACTERS) : '';
}

const TRANSIENT_STATUSES = [408, 425, 429];

/**
 * An error of OAuth and an invalid success are final: a refresh token that was used must not be sent again. A status without
 * one can come from a proxy, so a later attempt may succeed. The errors of the library are not kept: they can contain the
 * answer with its tokens.
 */
function toTokenError(oauth: Library, error: unknown, signal: AbortSignal | undefined): TokenError {
  if (error instanceof TokenError) return error;
  if (signal?.aborted) return new TokenError('unavailable', 'The issuer did not answer in time.');
  if (error instanceof OutboundError) return new TokenError('unavailable', error.message);
  if (error instanceof oauth.AuthorizationResponseError)
    return new TokenError('refused', 'The authorization was refused.');
  const status = statusOf(error);
  if (status === undefined) return new TokenError('refused', 'The answer of the issuer is invalid.');
  const isFinal =
    error instanceof oauth.ResponseBodyError || error instanceof oauth.WWWAuthenticateChallengeError;
  if (!isFinal || status >= 500 || TRANSIENT_STATUSES.includes(status))
    return new TokenError('unavailable', `The issuer answered with status ${status}.`);
  if (error instanceof oauth.ResponseBodyError && error.error === 'invalid_grant')
    return new TokenError('invalid_grant', 'The issuer has ended the authorization.');
  return new TokenError('refused', `The issuer refused the request with status ${status}.`);
}

/** The status of an unexpected response. */
function statusOf(error: unknown): number | undefined {
  const { status, cause } = error as { status?: unknown; cause?: unknown };
  if (typeof status === 'number') return status;
  return cause instanceof Response && !cause.ok ? cause.status : undefined;
}
