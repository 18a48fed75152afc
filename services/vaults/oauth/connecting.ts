import { createHash } from 'node:crypto';
import type { Clock } from '../../../lib/clock.ts';
import { refuse } from '../../../lib/errors.ts';
import type { Call } from '../../../lib/grpc/contract.ts';
import type { Ids } from '../../../lib/ids.ts';
import { checkReturnPath } from '../../../lib/return-path.ts';
import { Secret } from '../../../lib/secret.ts';
import type { McpOAuth, McpServerRuntime } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { Connection } from '../domain/connection.ts';
import { type OAuthMembers, type TokenGrant, unionOfScopes } from '../domain/oauth.ts';
import type {
  AuthorizationRequest,
  ConnectionAttempt,
  ConnectionAttemptStore,
} from '../store/connection-attempts.ts';
import type { DiscoverAuthorization, FoundAuthorization } from './discovery.ts';
import type { IssuerClients } from './issuer-clients.ts';
import type { ServiceSecrets } from './service-secrets.ts';
import { TokenError } from './token-error.ts';
import { stateIn, type TokenRequests } from './token-requests.ts';

interface ConnectingContext {
  attempts: ConnectionAttemptStore;
  clients: IssuerClients;
  secrets: ServiceSecrets;
  requests: Pick<TokenRequests, 'exchange'>;
  discoverAuthorization: DiscoverAuthorization;
  /** Whether outbound requests may reach a private host of this port, over http, too. */
  isPrivateHost: (host: string, port: number) => boolean;
  clock: Clock;
  ids: Ids;
}

/** The user and browser that connect to a server. */
export interface Beginning {
  userId: string;
  server: McpServerRuntime;
  /** The earlier connection of the user to the server. */
  known: Connection | undefined;
  /** SHA-256 of the random value in a cookie of the browser. */
  browserSha256: Buffer;
  /** The path of this service to which the browser returns. Other values become `/`. */
  returnTo: string;
}

/** The answer with which a browser returns from an authorization server. */
export interface Finishing {
  userId: string;
  /** The query of the redirect, not decoded. */
  query: Secret;
  /** Empty: the browser has no cookie. */
  browserSha256: Buffer;
}

/** A finished authorization. */
export interface Finished {
  attempt: ConnectionAttempt;
  oauth: OAuthMembers;
  clientSecret: Secret | undefined;
  grant: TokenGrant;
}

/** Why an answer was refused, for the audit log. */
export type RefusalReason =
  | 'unknown_state'
  | 'other_user'
  | 'other_browser'
  | 'expired'
  | 'authorization_refused'
  | 'issuer_unavailable';

/** An answer that was refused. Only the audit log names the reason. */
export class RefusedAnswer extends Error {
  readonly reason: RefusalReason;
  readonly mcpServerId: string;

  constructor(reason: RefusalReason, mcpServerId = '') {
    super('an answer of an authorization server was refused');
    this.reason = reason;
    this.mcpServerId = mcpServerId;
  }
}

const ATTEMPT_MS = 30 * 60_000;
const OFFLINE_ACCESS = 'offline_access';

export type Connecting = ReturnType<typeof createConnecting>;

/** The authorization code flow of OAuth 2.1 with PKCE and resource indicators, as the MCP specification uses it. */
export function createConnecting(context: ConnectingContext) {
  const { attempts, clients, secrets, requests, discoverAuthorization, isPrivateHost, clock, ids } = context;

  return {
    /**
     * Begins an authorization. Returns undefined for a server that describes none. Refused with OAUTH_CLIENT_REQUIRED and
     * MCP_SERVER_UNREACHABLE.
     */
    async begin({ userId, server, known, browserSha256, returnTo }: Beginning, call: Call) {
      const { mcpServerId, url, oauth } = server;
      const found = await discoverAuthorization(url, {
        signal: call.signal,
        ...(oauth?.issuer && { issuer: oauth.issuer }),
      });
      if (!found) return undefined;
      const endpoint = endpointOf(found, isPrivateHost);
      const client = await clients.clientFor(
        found.server,
        { mcpServerId, clientId: oauth?.clientId ?? '' },
        call.signal,
      );
      const { generateRandomCodeVerifier, generateRandomState, calculatePKCECodeChallenge } = await import(
        'oauth4webapi'
      );
      const verifier = generateRandomCodeVerifier();
      const state = generateRandomState();
      const { clientSecret, ...identity } = client;
      const request: AuthorizationRequest = {
        ...requestOf(found, scopesFor(found, oauth, known)),
        ...identity,
        redirectUri: clients.redirectUri(),
      };
      const attemptId = ids('att');
      const members = {
        verifier: new Secret(verifier),
        ...(clientSecret && { client_secret: clientSecret }),
      };
      const expiresAt = new Date(clock.now().getTime() + ATTEMPT_MS);
      const address = { mcpServerId, mcpServerUrl: url, returnTo: checkReturnPath(returnTo) };
      const attempt = { attemptId, userId, browserSha256, ...address };
      const secret = await secrets.seal(attemptId, members);
      await attempts.add({ ...attempt, secret, request, expiresAt }, digestOf(state), call);
      const challenge = await calculatePKCECodeChallenge(verifier);
      const authorizationUrl = authorizationUrlOf(endpoint, request, { state, challenge });
      return { attemptId, authorizationUrl, expiresAt };
    },

    /**
     * Ends an attempt and exchanges its code for tokens. Throws RefusedAnswer. Nothing is sent to the issuer unless the state,
     * the user and the browser are those of an attempt that has not ended.
     */
    async finish({ userId, query, browserSha256 }: Finishing, call: Call): Promise<Finished> {
      const state = stateIn(query);
      const attempt = state === undefined ? undefined : await attempts.take(digestOf(state), call);
      if (state === undefined || !attempt) throw new RefusedAnswer('unknown_state');
      const { mcpServerId, request, secret } = attempt;
      if (attempt.userId !== userId) throw new RefusedAnswer('other_user', mcpServerId);
      if (!attempt.browserSha256.equals(browserSha256)) throw new RefusedAnswer('other_browser', mcpServerId);
      if (attempt.expiresAt <= clock.now()) throw new RefusedAnswer('expired', mcpServerId);
      const { verifier, client_secret: clientSecret } = await secrets.open(attempt.attemptId, secret);
      if (!verifier) throw new Error('an attempt has no verifier');
      const { redirectUri, namesIssuer, signatures, ...oauth } = request;
      const answer = { query, state, verifier, redirectUri, namesIssuer, signatures };
      try {
        const grant = await requests.exchange({ ...oauth, clientSecret }, answer, call.signal);
        return { attempt, oauth, clientSecret, grant };
      } catch (error) {
        if (!(error instanceof TokenError)) throw error;
        const isAway = error.problem === 'unavailable';
        throw new RefusedAnswer(isAway ? 'issuer_unavailable' : 'authorization_refused', mcpServerId);
      }
    },
  };
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** The authorization endpoint. The user's browser opens it, so its scheme is checked. */
function endpointOf(
  { server }: FoundAuthorization,
  isPrivateHost: (host: string, port: number) => boolean,
): URL {
  const { authorization_endpoint: text = '', token_endpoint: tokenEndpoint } = server;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const host = url?.hostname.replace(/^\[(.*)\]$/, '$1') ?? '';
  const isHttp = url?.protocol === 'http:' && isPrivateHost(host, Number(url.port || 80));
  if (!url || tokenEndpoint === undefined || (url.protocol !== 'https:' && !isHttp))
    throw refuse(
      'MCP_SERVER_UNREACHABLE',
      'The metadata of the authorization server has no valid authorization_endpoint or token_endpoint.',
    );
  return url;
}

/** The scopes to request: the administrator's, else those that the server names, and those that it has demanded since. */
function scopesFor(
  { scopes, server }: FoundAuthorization,
  oauth: McpOAuth | undefined,
  known: Connection | undefined,
): string[] {
  const configured = oauth?.scopes ?? [];
  const requested = unionOfScopes(configured.length > 0 ? configured : scopes, known?.wantedScopes ?? []);
  return server.scopes_supported?.includes(OFFLINE_ACCESS)
    ? unionOfScopes(requested, [OFFLINE_ACCESS])
    : requested;
}

function requestOf({ resource, server }: FoundAuthorization, scopes: string[]) {
  const signatures = server.id_token_signing_alg_values_supported;
  return {
    issuer: server.issuer,
    tokenEndpoint: server.token_endpoint ?? '',
    revocationEndpoint: server.revocation_endpoint ?? '',
    namesIssuer: server.authorization_response_iss_parameter_supported === true,
    ...(signatures && { signatures }),
    ...{ resource, scopes },
  };
}

function authorizationUrlOf(
  endpoint: URL,
  { clientId, redirectUri, resource, scopes }: AuthorizationRequest,
  { state, challenge }: { state: string; challenge: string },
): string {
  const url = new URL(endpoint);
  const parameters = {
    ...{ response_type: 'code', client_id: clientId, redirect_uri: redirectUri, state, resource },
    ...{ code_challenge: challenge, code_challenge_method: 'S256' },
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    // OpenID Connect gives refresh tokens only after a consent.
    ...(scopes.includes(OFFLINE_ACCESS) && { prompt: 'consent' }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}
