import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import Provider from 'oidc-provider';
import type { Certificate } from './certificates.ts';
import { CookieJar } from './cookie-jar.ts';
import { createIdentityStore } from './identity-store.ts';
import type { McpTestServer } from './mcp-server.ts';

interface AuthorizationServerOptions {
  /** The origin to which browsers return. `origin` sets it later. */
  origin?: string;
  /** The lifetime of access tokens. Default: an hour. */
  tokenSeconds?: number;
  /** Clients that are registered by hand. */
  clients?: readonly { client_id: string; client_secret: string }[];
  /** Whether clients can register themselves. Default: true. */
  registersClients?: boolean;
  /** Serves https with this certificate. Default: http. */
  certificate?: Certificate;
  /** Fetches the metadata documents of clients whose ids are URLs. Default: there are no such clients. */
  fetchDocument?: (url: URL) => Promise<Response>;
}

const SCOPES = ['read', 'write'];

/**
 * A real authorization server (oidc-provider) for MCP servers, on a free port: registration, PKCE, resource indicators,
 * rotation of refresh tokens and revocation.
 */
export class AuthorizationServer implements AsyncDisposable {
  readonly #options: AuthorizationServerOptions;
  readonly #server: ReturnType<typeof createServer>;
  #provider: Provider | undefined;
  #listener: RequestListener = () => {};
  /** The origin to which browsers return. */
  origin: string;
  /** Method and path of each request, in order. */
  readonly requests: string[] = [];
  /** The bodies of requests to the token endpoint. */
  readonly tokenRequests: URLSearchParams[] = [];
  /** Answers requests to the token endpoint instead of the provider. */
  onToken: RequestListener | undefined;
  /** Answers requests to the registration endpoint instead of the provider. */
  onRegistration: RequestListener | undefined;

  static async open(options: AuthorizationServerOptions): Promise<AuthorizationServer> {
    const server = new AuthorizationServer(options);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    const { privateKey } = await generateKeyPair('RS256', { extractable: true });
    const key = { ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig' };
    const provider = new Provider(server.issuer, server.#configuration(key));
    server.#provider = provider;
    server.#listener = provider.callback();
    provider.on('grant.success', ({ oidc: { params } }: TokenContext) => {
      server.tokenRequests.push(new URLSearchParams(params));
    });
    return server;
  }

  private constructor(options: AuthorizationServerOptions) {
    this.#options = options;
    this.origin = options.origin ?? 'http://127.0.0.1:1';
    const listener: RequestListener = (request, response) => this.#handle(request, response);
    const { certificate } = options;
    this.#server = certificate ? createTlsServer(certificate, listener) : createServer(listener);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get issuer(): string {
    return `${this.#options.certificate ? 'https' : 'http'}://127.0.0.1:${this.port}`;
  }

  /** Follows the redirects of an authorization like a browser. Returns the query of the callback. */
  async authorize(authorizationUrl: string, subject: string): Promise<string> {
    const jar = new CookieJar();
    let url = new URL(authorizationUrl);
    for (let steps = 0; steps < 12; steps++) {
      const response = await fetch(url, {
        redirect: 'manual',
        headers: { cookie: jar.header(), 'x-account': subject },
      });
      jar.keep(response.headers);
      const location = response.headers.get('location');
      if (!location) throw new Error(`${url.pathname} answers ${response.status}: ${await response.text()}`);
      await response.body?.cancel();
      url = new URL(location, url);
      if (url.origin === this.origin) return url.search.slice(1);
    }
    throw new Error('the authorization redirects in a loop');
  }

  /** Whether an access token is valid. */
  async accepts(token: string): Promise<boolean> {
    const ofUser = await this.#provider?.AccessToken.find(token);
    const found = ofUser ?? (await this.#provider?.ClientCredentials.find(token));
    return found !== undefined && !found.isExpired;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  #handle(...[request, response]: Parameters<RequestListener>): void {
    const { pathname } = new URL(request.url ?? '/', this.issuer);
    this.requests.push(`${request.method} ${pathname}`);
    if (pathname === '/token' && this.onToken) this.onToken(request, response);
    else if (pathname === '/reg' && this.onRegistration) this.onRegistration(request, response);
    else if (pathname.startsWith('/interaction/')) {
      const accountId = String(request.headers['x-account']);
      const consent = this.#consentOf(request, response, accountId);
      consent.catch((error: unknown) => response.writeHead(500).end(String(error)));
    } else this.#listener(request, response);
  }

  /** Logs the account in, and grants everything that is asked for. */
  async #consentOf(
    ...[request, response, accountId]: [...Parameters<RequestListener>, string]
  ): Promise<void> {
    const provider = this.#provider;
    if (!provider) throw new Error('the server is not open');
    const { prompt, params } = await provider.interactionDetails(request, response);
    if (prompt.name === 'login') {
      await provider.interactionFinished(request, response, { login: { accountId } });
      return;
    }
    const grant = new provider.Grant({ clientId: String(params.client_id), accountId });
    grant.addOIDCScope(String(params.scope ?? ''));
    if (typeof params.resource === 'string')
      grant.addResourceScope(params.resource, String(params.scope ?? ''));
    await provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
  }

  #configuration(key: JWK): object {
    const { tokenSeconds = 3_600, clients = [], registersClients = true, fetchDocument } = this.#options;
    return {
      adapter: createIdentityStore(),
      jwks: { keys: [key] },
      cookies: { keys: ['a key for the cookies of the server'] },
      clients: clients.map((client) => ({
        ...client,
        redirect_uris: [`${this.origin}/api/v1/auth/connections/callback`],
        grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
        response_types: ['code'],
        token_endpoint_auth_method: 'client_secret_basic',
      })),
      scopes: ['openid', 'offline_access', ...SCOPES],
      pkce: { required: () => true },
      clientBasedCORS: () => false,
      findAccount: (_: unknown, accountId: string) => ({
        accountId,
        claims: async () => ({ sub: accountId }),
      }),
      interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
      ...(fetchDocument && { fetch: (url: string | URL) => fetchDocument(new URL(url)) }),
      rotateRefreshToken: true,
      issueRefreshToken: async () => true,
      ttl: {
        ...{ AccessToken: tokenSeconds, AuthorizationCode: 60, ClientCredentials: tokenSeconds },
        ...{ Grant: 86_400, IdToken: 600, Interaction: 600, RefreshToken: 86_400, Session: 3_600 },
      },
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        registration: { enabled: registersClients },
        clientIdMetadataDocument: { enabled: fetchDocument !== undefined, ack: 'draft-02' },
        revocation: { enabled: true, allowedPolicy: () => true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: () => ({ scope: SCOPES.join(' '), accessTokenFormat: 'opaque' }),
          useGrantedResource: () => true,
        },
      },
    };
  }
}

/** The path of the metadata of an MCP server with the path /mcp. */
export const RESOURCE_METADATA = '/.well-known/oauth-protected-resource/mcp';

/** Makes an MCP server demand access tokens of an authorization server, and name it in its metadata. */
export function protectServer(remote: McpTestServer, issuer: AuthorizationServer): void {
  const metadata = `http://127.0.0.1:${remote.port}${RESOURCE_METADATA}`;
  remote.accepts = (authorization) => issuer.accepts(authorization.replace(/^Bearer /, ''));
  remote.refusal = { status: 401, challenge: `Bearer resource_metadata="${metadata}", scope="read"` };
  remote.documents[RESOURCE_METADATA] = {
    resource: remote.url,
    authorization_servers: [issuer.issuer],
    scopes_supported: ['read', 'write'],
  };
}

interface TokenContext {
  oidc: { params: Record<string, string> };
}
