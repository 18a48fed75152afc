import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import Provider from 'oidc-provider';
import { CookieJar } from './cookie-jar.ts';
import { createIdentityStore } from './identity-store.ts';

export interface Account {
  name?: string;
  email?: string;
  emailVerified?: boolean;
  groups?: string[];
}

export interface IdentityProviderOptions {
  /** By subject. Tests can change them at any time. */
  accounts?: Record<string, Account>;
  /** Origin of the service for browsers. `setOrigin` sets it later. */
  origin?: string;
  /** Undefined: a public client. */
  clientSecret?: string;
  /** ID tokens contain only the subject. Other claims are in the user info. */
  thinIdTokens?: boolean;
}

export interface AccessTokenOptions {
  /** Default: AUDIENCE. */
  audience?: string;
  /** Default: agents:read agents:write. */
  scope?: string;
  /** Default: 600. */
  lifetimeSeconds?: number;
  /** Default: jwt. */
  format?: 'jwt' | 'opaque';
}

export const CLIENT_ID = 'agent-hosting-service';
export const AUDIENCE = 'https://agents.example.com/api';
const SCOPES = 'agents:read agents:write agents:admin agents:mcp agents:approve other:read';

/** A real identity provider (oidc-provider) on a free port. */
export class IdentityProvider implements AsyncDisposable {
  readonly accounts: Record<string, Account>;
  readonly #options: IdentityProviderOptions;
  readonly #server = createServer((request, response) => this.#handle(request, response));
  readonly #store = createIdentityStore();
  #origin: string;
  #key: JWK | undefined;
  #provider: Provider | undefined;
  #listener: RequestListener = () => {};
  #isUnavailable = false;
  /** Requested paths, in order. */
  readonly requests: string[] = [];
  /** The secrets of every exchange of a code for tokens. */
  readonly exchanges: Exchange[] = [];

  static async open(options: IdentityProviderOptions = {}): Promise<IdentityProvider> {
    const provider = new IdentityProvider(options);
    provider.#server.listen(0, '127.0.0.1');
    await once(provider.#server, 'listening');
    await provider.rotateKeys();
    return provider;
  }

  /** The metadata documents of clients whose ids are URLs, by URL. */
  readonly clientDocuments: Record<string, object> = {};
  /** The URLs of the documents that it has fetched. */
  readonly fetched: string[] = [];

  private constructor(options: IdentityProviderOptions) {
    this.#options = options;
    this.accounts = options.accounts ?? {};
    this.#origin = options.origin ?? 'http://127.0.0.1:1';
  }

  get issuer(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Replaces the signing key with a new key. */
  async rotateKeys(): Promise<void> {
    const { privateKey } = await generateKeyPair('RS256', { extractable: true });
    this.#key = { ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig' };
    this.#restart();
  }

  /** Sets the origin to which browsers return. */
  setOrigin(origin: string): void {
    this.#origin = origin;
    this.#restart();
  }

  /** Whether it closes all connections without a response. */
  set isUnavailable(isUnavailable: boolean) {
    this.#isUnavailable = isUnavailable;
    if (isUnavailable) this.#server.closeAllConnections();
  }

  /**
   * Follows the redirects of a login like a browser. Returns the query of the callback, whose origin is that of the service by
   * default.
   */
  async login(
    authorizationUrl: string,
    subject: string,
    jar = new CookieJar(),
    callback = this.#origin,
  ): Promise<string> {
    let url = new URL(authorizationUrl);
    for (let steps = 0; steps < 10; steps++) {
      const response = await fetch(url, {
        redirect: 'manual',
        headers: { cookie: jar.header(), 'x-account': subject },
      });
      jar.keep(response.headers);
      const location = response.headers.get('location');
      if (!location) throw new Error(`${url.pathname} answers ${response.status}: ${await response.text()}`);
      await response.body?.cancel();
      url = new URL(location, url);
      if (url.origin === callback) return url.search.slice(1);
    }
    throw new Error('the login redirects in a loop');
  }

  /** Issues an access token of the subject for the service. */
  async accessToken(subject: string, options: AccessTokenOptions = {}): Promise<string> {
    const { audience = AUDIENCE, scope = 'agents:read agents:write' } = options;
    const { lifetimeSeconds = 600, format = 'jwt' } = options;
    const provider = this.#provider;
    if (!provider) throw new Error('the provider is not open');
    const client = await provider.Client.find(CLIENT_ID);
    const grant = new provider.Grant({ clientId: CLIENT_ID, accountId: subject });
    grant.addResourceScope(audience, scope);
    const token = new provider.AccessToken({
      accountId: subject,
      client,
      grantId: await grant.save(),
      scope,
      aud: audience,
      gty: 'authorization_code',
      expiresIn: lifetimeSeconds,
    });
    token.resourceServer = new provider.ResourceServer(audience, {
      scope: SCOPES,
      accessTokenFormat: format,
    });
    return token.save(lifetimeSeconds);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  #restart(): void {
    this.#provider = new Provider(this.issuer, this.#configuration());
    this.#provider.on('grant.success', ({ oidc, body }: ExchangeContext) => {
      this.exchanges.push({
        verifier: oidc.params.code_verifier,
        idToken: body.id_token,
        accessToken: body.access_token,
      });
    });
    this.#listener = this.#provider.callback();
  }

  #configuration(): object {
    const { clientSecret, thinIdTokens = false } = this.#options;
    const confidential = { client_secret: clientSecret, token_endpoint_auth_method: 'client_secret_basic' };
    return {
      adapter: this.#store,
      jwks: { keys: [this.#key] },
      cookies: { keys: ['a key for the cookies of the provider'] },
      clients: [
        {
          client_id: CLIENT_ID,
          redirect_uris: [`${this.#origin}/api/v1/auth/callback`],
          post_logout_redirect_uris: [`${this.#origin}/`],
          grant_types: ['authorization_code'],
          response_types: ['code'],
          ...(clientSecret ? confidential : { token_endpoint_auth_method: 'none' }),
        },
      ],
      // Those that clients may register for.
      scopes: ['openid', 'offline_access', ...SCOPES.split(' ')],
      pkce: { required: () => true },
      claims: { openid: ['sub'], profile: ['name', 'groups'], email: ['email', 'email_verified'] },
      conformIdTokenClaims: thinIdTokens,
      findAccount: (_: unknown, subject: string) => this.#account(subject),
      extraTokenClaims: (_: unknown, { accountId }: { accountId: string }) => {
        const { groups } = this.accounts[accountId] ?? {};
        return groups ? { groups } : undefined;
      },
      interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
      // It fetches nothing but the metadata documents of clients.
      fetch: async (url: string | URL) => this.#fetchDocument(String(url)),
      loadExistingGrant: (ctx: GrantContext) => grantAll(ctx),
      ttl: {
        AccessToken: 600,
        AuthorizationCode: 60,
        Grant: 3_600,
        IdToken: 600,
        Interaction: 600,
        RefreshToken: 3_600,
        Session: 3_600,
      },
      features: {
        devInteractions: { enabled: false },
        // MCP clients register themselves.
        registration: { enabled: true },
        // Or their id is the URL of a document.
        clientIdMetadataDocument: { enabled: true, ack: 'draft-02' },
        introspection: { enabled: true, allowedPolicy: () => true },
        rpInitiatedLogout: {
          enabled: true,
          logoutSource: (ctx: Page, form: string) => {
            ctx.body = `<!doctype html><title>Log out</title>${form}<button form="op.logoutForm" name="logout" value="yes">Log out</button>`;
          },
          postLogoutSuccessSource: (ctx: Page) => {
            ctx.body = '<!doctype html><title>Logged out</title>';
          },
        },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: () => ({ scope: SCOPES, accessTokenFormat: 'jwt' }),
          useGrantedResource: () => true,
        },
      },
      renderError: (ctx: Page, out: object) => {
        ctx.body = JSON.stringify(out);
      },
    };
  }

  #fetchDocument(url: string): Response {
    this.fetched.push(url);
    const document = this.clientDocuments[url];
    return document ? Response.json(document) : new Response(null, { status: 404 });
  }

  async #account(subject: string) {
    const account = this.accounts[subject];
    if (!account) return undefined;
    const { name, email, emailVerified = true, groups } = account;
    const address = email === undefined ? {} : { email, email_verified: emailVerified };
    return { accountId: subject, claims: async () => ({ sub: subject, name, groups, ...address }) };
  }

  #handle(request: IncomingMessage, response: ServerResponse): void {
    const { pathname } = new URL(request.url ?? '/', this.issuer);
    this.requests.push(pathname);
    if (this.#isUnavailable) request.socket.destroy();
    else if (!pathname.startsWith('/interaction/')) this.#listener(request, response);
    else
      this.#askForAccount(request, response).catch((error: unknown) => {
        response.writeHead(500).end(String(error));
      });
  }

  /** The subject comes from a header of `login`, or from the form of a browser. */
  async #askForAccount(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { 'x-account': header } = request.headers;
    const form = request.method === 'POST' ? new URLSearchParams(await text(request)) : undefined;
    const accountId = form?.get('account') ?? (typeof header === 'string' ? header : undefined);
    if (accountId !== undefined) {
      await this.#provider?.interactionFinished(request, response, {
        login: { accountId },
        consent: {},
      });
      return;
    }
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    response.end(
      '<!doctype html><title>Log in</title><form method="post">' +
        '<label>Account <input name="account" autofocus></label> <button>Log in</button></form>',
    );
  }
}

interface Page {
  body: string;
}

interface Exchange {
  verifier: string;
  idToken: string;
  accessToken: string;
}

interface ExchangeContext {
  oidc: { params: { code_verifier: string } };
  body: { id_token: string; access_token: string };
}

interface GrantContext {
  oidc: {
    provider: Provider;
    client: { clientId: string };
    session: { accountId: string };
    params: { resource?: string | string[] };
  };
}

/** Grants all scopes without a consent page. */
async function grantAll({ oidc: { provider, client, session, params } }: GrantContext) {
  const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
  grant.addOIDCScope(`openid profile email groups offline_access ${SCOPES}`);
  for (const resource of [params.resource ?? []].flat()) grant.addResourceScope(resource, SCOPES);
  await grant.save();
  return grant;
}
