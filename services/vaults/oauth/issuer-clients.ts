import type { AuthorizationServer } from 'oauth4webapi';
import type { Clock } from '../../../lib/clock.ts';
import { sha256 } from '../../../lib/digest.ts';
import { type Refusal, refuse } from '../../../lib/errors.ts';
import type { OutboundClient } from '../../../lib/outbound/outbound-client.ts';
import { Secret } from '../../../lib/secret.ts';
import type { ClientAuthentication } from '../domain/oauth.ts';
import type { OAuthClientKey, OAuthClientStore, StoredOAuthClient } from '../store/oauth-clients.ts';
import type { ServiceSecrets } from './service-secrets.ts';

/** This service at an issuer. */
interface IssuerClient {
  clientId: string;
  clientAuthentication: ClientAuthentication;
  clientSecret: Secret | undefined;
}

/** The client that an administrator registered for an MCP server. */
interface RegisteredClient {
  mcpServerId: string;
  /** Empty: none. */
  clientId: string;
}

interface IssuerClientsContext {
  store: OAuthClientStore;
  secrets: ServiceSecrets;
  outbound: OutboundClient;
  clock: Clock;
  /** The origin of this service for browsers, without a slash at its end. */
  publicUrl: () => string;
}

export type IssuerClients = ReturnType<typeof createIssuerClients>;

const LIMITS = { responseBytes: 256 * 1024, silenceMs: 10_000, totalMs: 10_000 };
const MAX_CLIENT_ID_CHARACTERS = 2_048;
/** A secret that ends within this time is not used for a new authorization. */
const SECRET_MARGIN_MS = 60 * 60_000;
const CLIENT_NAME = 'Agent Hosting Service';

/** Decides how this service identifies itself at an issuer. */
export function createIssuerClients(context: IssuerClientsContext) {
  const { store, secrets, outbound, clock, publicUrl } = context;
  const send = outbound.fetchWith(LIMITS);
  const redirectUri = () => `${publicUrl()}/api/v1/auth/connections/callback`;

  async function openClient(stored: StoredOAuthClient): Promise<IssuerClient> {
    const { clientId, clientAuthentication, secret } = stored;
    const opened = secret && (await secrets.open(rowIdOf(stored), secret));
    return { clientId, clientAuthentication, clientSecret: opened?.client_secret };
  }

  async function storedFor(key: OAuthClientKey): Promise<StoredOAuthClient | undefined> {
    const stored = await store.find(key);
    const end = stored?.secretExpiresAt;
    return end && end.getTime() - clock.now().getTime() < SECRET_MARGIN_MS ? undefined : stored;
  }

  /** Registers this service (RFC 7591). Returns undefined if the issuer refuses it or answers with another client. */
  async function register(server: AuthorizationServer, signal: AbortSignal) {
    const oauth = await import('oauth4webapi');
    const uri = redirectUri();
    const metadata = {
      client_name: CLIENT_NAME,
      redirect_uris: [uri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      application_type: isLoopback(uri) ? 'native' : 'web',
      token_endpoint_auth_method: authenticationAt(server, 'none'),
    };
    try {
      const response = await oauth.dynamicClientRegistrationRequest(server, metadata, {
        [oauth.customFetch]: send as never,
        [oauth.allowInsecureRequests]: true,
        signal,
      });
      const client = await registeredClientIn(response);
      if (!client) return undefined;
      const { client_id: clientId, client_secret: secret, redirect_uris: uris } = client;
      const isOwn = uris === undefined || (Array.isArray(uris) && uris.length === 1 && uris[0] === uri);
      if (!isOwn) return undefined;
      const given = client.token_endpoint_auth_method;
      const clientAuthentication = isAuthentication(given)
        ? given
        : authenticationAt(server, secret === undefined ? 'none' : 'client_secret_basic');
      const endSeconds = client.client_secret_expires_at;
      return {
        ...{ clientId, clientAuthentication },
        clientSecret: typeof secret === 'string' ? new Secret(secret) : undefined,
        secretExpiresAt:
          typeof endSeconds === 'number' && endSeconds > 0 ? new Date(endSeconds * 1_000) : undefined,
      };
    } catch {
      // The errors of the library can contain the answer with its secret.
      signal.throwIfAborted();
      return undefined;
    }
  }

  return {
    redirectUri,

    /** The id of this service as the URL of its metadata document. */
    documentUrl: () => `${publicUrl()}/api/v1/auth/connections/client.json`,

    /**
     * Returns the client for an issuer: the administrator's, else the metadata document of this service, else one that this
     * service registers once for each issuer and redirect URI. Refused with OAUTH_CLIENT_REQUIRED.
     */
    async clientFor(
      server: AuthorizationServer,
      { mcpServerId, clientId }: RegisteredClient,
      signal: AbortSignal,
    ): Promise<IssuerClient> {
      const issuer = issuerKey(server.issuer);
      if (clientId !== '') {
        const stored = await store.find({ mcpServerId, issuer, redirectUri: '' });
        if (stored?.clientId !== clientId)
          return { clientId, clientAuthentication: 'none', clientSecret: undefined };
        const opened = await openClient(stored);
        return { ...opened, clientAuthentication: authenticationAt(server, 'client_secret_basic') };
      }
      if (server.client_id_metadata_document_supported === true && publicUrl().startsWith('https:'))
        return { clientId: this.documentUrl(), clientAuthentication: 'none', clientSecret: undefined };
      if (server.registration_endpoint === undefined) throw clientRequired();
      const key = { mcpServerId: '', issuer, redirectUri: redirectUri() };
      const stored = await storedFor(key);
      if (stored) return openClient(stored);
      const registered = await register(server, signal);
      if (!registered) throw clientRequired();
      const { clientSecret, secretExpiresAt, ...client } = registered;
      const secret = clientSecret && (await secrets.seal(rowIdOf(key), { client_secret: clientSecret }));
      await store.put({ ...key, ...client, secret, secretExpiresAt }, clock.now());
      return { ...client, clientSecret };
    },

    /** Keeps the secret of a client that an administrator registered. */
    async putRegistered(
      { mcpServerId, issuer, clientId }: RegisteredClient & { issuer: string },
      clientSecret: Secret,
    ): Promise<void> {
      const key = { mcpServerId, issuer: issuerKey(issuer), redirectUri: '' };
      const secret = await secrets.seal(rowIdOf(key), { client_secret: clientSecret });
      const clientAuthentication = 'client_secret_basic';
      await store.put(
        { ...key, clientId, clientAuthentication, secret, secretExpiresAt: undefined },
        clock.now(),
      );
    },

    deleteRegistered: (mcpServerId: string) => store.deleteOfServer(mcpServerId),
  };
}

/**
 * Reads the answer to a registration; undefined if it has no valid client. Many issuers leave out `client_secret_expires_at`,
 * which RFC 7591 requires beside a secret and the library insists on.
 */
async function registeredClientIn(response: Response): Promise<RegistrationAnswer | undefined> {
  const isCreated = response.status === 201 || response.status === 200;
  const body: unknown = isCreated ? await response.json() : await response.body?.cancel();
  if (typeof body !== 'object' || body === null) return undefined;
  const { client_id: id } = body as Record<string, unknown>;
  const isValid = typeof id === 'string' && id !== '' && id.length <= MAX_CLIENT_ID_CHARACTERS;
  return isValid ? (body as RegistrationAnswer) : undefined;
}

/** The members beside the id are unchecked. */
type RegistrationAnswer = { client_id: string } & Partial<Record<string, unknown>>;

/** Administrators write the URL of an issuer with or without the slash at its end. */
function issuerKey(issuer: string): string {
  return issuer.replace(/\/$/, '');
}

/** A secret opens for the client for which it was sealed alone. */
function rowIdOf({ mcpServerId, issuer, redirectUri }: OAuthClientKey): string {
  return `client ${sha256(JSON.stringify([mcpServerId, issuer, redirectUri]))}`;
}

const AUTHENTICATIONS: readonly string[] = ['none', 'client_secret_basic', 'client_secret_post'];

function isAuthentication(method: unknown): method is ClientAuthentication {
  return typeof method === 'string' && AUTHENTICATIONS.includes(method);
}

/** The preferred method if the issuer has it, else another one that it has. */
function authenticationAt(
  { token_endpoint_auth_methods_supported: known = ['client_secret_basic'] }: AuthorizationServer,
  preferred: ClientAuthentication,
): ClientAuthentication {
  if (known.includes(preferred)) return preferred;
  if (known.includes('client_secret_basic')) return 'client_secret_basic';
  return known.includes('client_secret_post') ? 'client_secret_post' : preferred;
}

function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || /^127\./.test(hostname);
}

function clientRequired(): Refusal {
  return refuse(
    'OAUTH_CLIENT_REQUIRED',
    'The authorization server registers no clients by itself. An administrator has to register one there and set it for the MCP server.',
  );
}
