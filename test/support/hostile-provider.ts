import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, SignJWT, UnsecuredJWT } from 'jose';

export type Fault = 'error' | 'redirect' | 'huge' | 'slow' | 'garbage' | 'page';
export type Place = 'discovery' | 'keys' | 'token' | 'introspection';

const PLACES: Record<string, Place> = {
  '/.well-known/openid-configuration': 'discovery',
  '/keys': 'keys',
  '/token': 'token',
  '/introspection': 'introspection',
};
const KID = 'the-key';
const MIB = 1024 * 1024;
/** Made once, as that takes a while. */
const PUBLISHED = generateKeyPairSync('rsa', { modulusLength: 2048 });
const OTHER = generateKeyPairSync('rsa', { modulusLength: 2048 });

export interface SigningOptions {
  /** Default: RS256, with the key that is published. HS256 signs with its public half. */
  alg?: 'RS256' | 'HS256' | 'none';
  /** Of the header. Default: that of the published key. */
  kid?: string;
  typ?: string;
  /** With another key, under the name of the published one. */
  otherKey?: boolean;
}

/** A provider of identities that says whatever it is told to, signed or not. */
export class HostileProvider implements AsyncDisposable {
  readonly #server = createServer((request, response) => this.#answer(request, response));
  /** What goes wrong, and where. */
  readonly faults = new Map<Place, Fault>();
  /** What it says of itself, over what it would say otherwise. */
  metadata: Record<string, unknown> = {};
  /** The ID token it gives next, and what it answers about tokens. */
  idToken = '';
  introspection: Record<string, unknown> = { active: false };
  /** How often each place was asked. */
  readonly asked: Record<Place, number> = { discovery: 0, keys: 0, token: 0, introspection: 0 };
  /** All tokens it has ever made. */
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
    const token = await this.#signed(claims, options);
    this.tokens.push(token);
    return token;
  }

  async #signed(claims: Record<string, unknown>, options: SigningOptions): Promise<string> {
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

  #answer(request: IncomingMessage, response: ServerResponse): void {
    request.resume();
    const place = PLACES[new URL(request.url ?? '/', this.issuer).pathname];
    const fault = place && this.faults.get(place);
    if (place) this.asked[place]++;
    if (!place) response.writeHead(404).end();
    else if (fault) misbehave(fault, response);
    else this.#speak(place, response);
  }

  #speak(place: Place, response: ServerResponse): void {
    this.#say(place).then(
      (body) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  }

  async #say(place: Place): Promise<object> {
    switch (place) {
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
    case 'page':
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Welcome</title>');
  }
}
