import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, SignJWT, UnsecuredJWT } from 'jose';

export type Fault =
  | 'error'
  | 'redirect'
  | 'huge'
  | 'slow'
  | 'garbage'
  | 'page'
  | 'unsupported token'
  | 'invalid client';
type ProviderEndpoint = 'discovery' | 'keys' | 'token' | 'introspection';

const ENDPOINTS: Record<string, ProviderEndpoint> = {
  '/.well-known/openid-configuration': 'discovery',
  '/keys': 'keys',
  '/token': 'token',
  '/introspection': 'introspection',
};
const KID = 'the-key';
const MIB = 1024 * 1024;
/** Generated once, because generation is slow. */
const PUBLISHED = generateKeyPairSync('rsa', { modulusLength: 2048 });
const OTHER = generateKeyPairSync('rsa', { modulusLength: 2048 });

export interface SigningOptions {
  /** Default: RS256 with the published key. HS256 uses the public key as the secret. */
  alg?: 'RS256' | 'HS256' | 'none';
  /** `kid` of the header. Default: that of the published key. */
  kid?: string;
  typ?: string;
  /** Sign with another key, with the `kid` of the published key. */
  otherKey?: boolean;
}

/** An identity provider with configurable responses, tokens and faults. */
export class HostileProvider implements AsyncDisposable {
  readonly #server = createServer((request, response) => this.#handle(request, response));
  /** Faults by endpoint. */
  readonly faults = new Map<ProviderEndpoint, Fault>();
  /** Overrides members of the discovery document. */
  metadata: Record<string, unknown> = {};
  /** The next ID token, and the introspection response. */
  idToken = '';
  introspection: Record<string, unknown> = { active: false };
  /** Number of requests by endpoint. */
  readonly requestCounts: Record<ProviderEndpoint, number> = {
    discovery: 0,
    keys: 0,
    token: 0,
    introspection: 0,
  };
  /** All tokens that it has issued. */
  readonly tokens: string[] = [];

  static async open(): Promise<HostileProvider> {
    const provider = new HostileProvider();
    provider.#server.listen(0, '127.0.0.1');
    await once(provider.#server, 'listening');
    return provider;
  }

  get issuer(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** A JWT. Times are in seconds since the epoch. */
  async sign(claims: Record<string, unknown>, options: SigningOptions = {}): Promise<string> {
    const token = await this.#createToken(claims, options);
    this.tokens.push(token);
    return token;
  }

  async #createToken(claims: Record<string, unknown>, options: SigningOptions): Promise<string> {
    const { alg = 'RS256', kid = KID, typ, otherKey = false } = options;
    if (alg === 'none') return new UnsecuredJWT(claims).encode();
    const { privateKey } = otherKey ? OTHER : PUBLISHED;
    const pem = PUBLISHED.publicKey.export({ type: 'spki', format: 'pem' });
    const key: KeyObject | Uint8Array = alg === 'HS256' ? Buffer.from(pem) : privateKey;
    return new SignJWT(claims).setProtectedHeader({ alg, kid, typ }).sign(key);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  #handle(request: IncomingMessage, response: ServerResponse): void {
    request.resume();
    const endpoint = ENDPOINTS[new URL(request.url ?? '/', this.issuer).pathname];
    const fault = endpoint && this.faults.get(endpoint);
    if (endpoint) this.requestCounts[endpoint]++;
    if (!endpoint) response.writeHead(404).end();
    else if (fault) misbehave(fault, response);
    else this.#respond(endpoint, response);
  }

  #respond(endpoint: ProviderEndpoint, response: ServerResponse): void {
    this.#bodyOf(endpoint).then(
      (body) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  }

  async #bodyOf(endpoint: ProviderEndpoint): Promise<object> {
    switch (endpoint) {
      case 'discovery':
        return {
          issuer: this.issuer,
          authorization_endpoint: `${this.issuer}/authorize`,
          token_endpoint: `${this.issuer}/token`,
          jwks_uri: `${this.issuer}/keys`,
          introspection_endpoint: `${this.issuer}/introspection`,
          response_types_supported: ['code'],
          id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
          ...this.metadata,
        };
      case 'keys':
        return { keys: [{ ...(await exportJWK(PUBLISHED.publicKey)), kid: KID, use: 'sig', alg: 'RS256' }] };
      case 'token': {
        const accessToken = randomUUID();
        this.tokens.push(accessToken);
        return { access_token: accessToken, token_type: 'Bearer', expires_in: 60, id_token: this.idToken };
      }
      case 'introspection':
        return this.introspection;
    }
  }
}

function misbehave(fault: Fault, response: ServerResponse): void {
  switch (fault) {
    case 'error':
      response.writeHead(500, { 'content-type': 'application/json' }).end('{"error":"server_error"}');
      break;
    case 'redirect':
      response.writeHead(302, { location: 'http://127.0.0.1:1/elsewhere' }).end();
      break;
    case 'huge':
      response.writeHead(200, { 'content-type': 'application/json' }).end(`{"pad":"${'x'.repeat(4 * MIB)}"}`);
      break;
    case 'slow':
      response.writeHead(200, { 'content-type': 'application/json' }).write('{');
      break;
    case 'garbage':
      response.writeHead(200, { 'content-type': 'application/json' }).end('[{"keys": null');
      break;
    case 'unsupported token':
      response
        .writeHead(400, { 'content-type': 'application/json' })
        .end('{"error":"unsupported_token_type"}');
      break;
    case 'invalid client':
      response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"invalid_client"}');
      break;
    case 'page':
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Welcome</title>');
  }
}
