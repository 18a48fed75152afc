import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OutboundClient } from '../../../../lib/outbound/outbound-client.ts';
import {
  createAuthorizationDiscovery,
  describeAuthorization,
} from '../../../../services/vaults/oauth/discovery.ts';
import { createFakeClock } from '../../../support/clock.ts';
import { IdentityProvider } from '../../../support/identity-provider.ts';

interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
}

const RESOURCE = '/.well-known/oauth-protected-resource';
const ISSUER = '/.well-known/oauth-authorization-server';
const OPENID = '/.well-known/openid-configuration';

describe('discovery of the authorization of an MCP server', () => {
  let http: Server;
  let origin = '';
  let provider: IdentityProvider;
  /** The responses by path. Other paths are not found. */
  let answers: Record<string, Answer> = {};
  /** The requested paths. */
  let requests: string[] = [];
  const clock = createFakeClock();
  let outbound: OutboundClient;

  beforeAll(async () => {
    http = createServer((request, response) => {
      const path = request.url ?? '';
      requests.push(path);
      const { status = 200, headers = {}, body } = answers[path] ?? { status: 404 };
      response.writeHead(status, headers).end(body === undefined ? '' : JSON.stringify(body));
    });
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    const { port } = http.address() as AddressInfo;
    origin = `http://127.0.0.1:${port}`;
    provider = await IdentityProvider.open();
    const ports = [port, Number(new URL(provider.issuer).port)];
    const privateHosts = ports.map((one) => ({ host: '127.0.0.1', port: one }));
    outbound = new OutboundClient({ clock, privateHosts });
  });
  afterAll(async () => {
    await outbound.close();
    await provider[Symbol.asyncDispose]();
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  });
  beforeEach(() => {
    requests = [];
    answers = {
      '/mcp': { status: 401, headers: { 'WWW-Authenticate': 'Bearer' } },
      [`${RESOURCE}/mcp`]: { body: { resource: `${origin}/mcp`, authorization_servers: [origin] } },
      [ISSUER]: { body: metadataOf({}) },
    };
  });

  const metadataOf = (members: object) => ({
    ...{ issuer: origin, authorization_endpoint: `${origin}/authorize`, token_endpoint: `${origin}/token` },
    ...{ response_types_supported: ['code'], code_challenge_methods_supported: ['S256'], ...members },
  });
  const discover = async (path = '/mcp', options: { signal?: AbortSignal; issuer?: string } = {}) => {
    const found = await createAuthorizationDiscovery(outbound, clock)(origin + path, options);
    return found && { ...describeAuthorization(found), resource: found.resource };
  };

  it('finds the metadata of a real authorization server', async () => {
    answers[`${RESOURCE}/mcp`] = {
      body: {
        resource: `${origin}/mcp`,
        authorization_servers: [provider.issuer],
        scopes_supported: ['read'],
      },
    };
    expect(await discover()).toEqual({
      issuer: provider.issuer,
      scopesSupported: ['read'],
      registration: 'document',
      resource: `${origin}/mcp`,
    });
  });

  it('reads the metadata at the address of the challenge only', async () => {
    const challenge = `Basic realm="a", Bearer error="invalid_token", resource_metadata="${origin}/elsewhere"`;
    answers['/mcp'] = { status: 401, headers: { 'WWW-Authenticate': challenge } };
    answers['/elsewhere'] = { body: { resource: origin, authorization_servers: [origin] } };
    expect(await discover()).toMatchObject({ issuer: origin });
    expect(requests).toEqual(['/mcp', '/elsewhere', ISSUER]);
    answers['/elsewhere'] = { status: 404 };
    expect(await discover()).toBeUndefined();
  });

  it('looks for the metadata of the path first and of the origin then', async () => {
    answers[RESOURCE] = { body: { resource: origin, authorization_servers: [origin] } };
    delete answers[`${RESOURCE}/mcp`];
    expect(await discover()).toMatchObject({ issuer: origin });
    expect(requests).toEqual(['/mcp', `${RESOURCE}/mcp`, RESOURCE, ISSUER]);
  });

  it.each([
    ['OAuth', `${ISSUER}/tenant`],
    ['OpenID Connect, with the path at the end', `${OPENID}/tenant`],
    ['OpenID Connect', `/tenant${OPENID}`],
  ])('finds the metadata of an issuer with a path as %s defines it', async (_, path) => {
    const issuer = `${origin}/tenant`;
    answers[`${RESOURCE}/mcp`] = { body: { resource: `${origin}/mcp`, authorization_servers: [issuer] } };
    answers[path] = { body: metadataOf({ issuer }) };
    expect(await discover()).toMatchObject({ issuer });
  });

  it.each([
    [{}, 'none'],
    [{ registration_endpoint: 'https://issuer.example/register' }, 'dynamic'],
    [{ registration_endpoint: 'https://a.example', client_id_metadata_document_supported: true }, 'document'],
  ])('tells how a client registers at an issuer with %o', async (members, registration) => {
    answers[ISSUER] = { body: metadataOf(members) };
    expect(await discover()).toMatchObject({ registration });
  });

  it.each<[string, () => Record<string, Answer>]>([
    ['names another issuer', () => ({ [ISSUER]: { body: metadataOf({ issuer: 'https://other.example' }) } })],
    [
      'lacks S256',
      () => ({ [ISSUER]: { body: metadataOf({ code_challenge_methods_supported: ['plain'] }) } }),
    ],
    ['is no JSON', () => ({ [`${RESOURCE}/mcp`]: {} })],
    ['redirects', () => ({ [ISSUER]: { status: 302, headers: { Location: `${origin}${OPENID}` } } })],
    ['exceeds its limit', () => ({ [ISSUER]: { body: metadataOf({ padding: 'x'.repeat(300_000) }) } })],
    ['describes another resource', () => resource(`${origin}/other`)],
    ['describes another origin', () => resource('https://other.example/mcp')],
    ['describes a longer path', () => resource(`${origin}/mcp/more`)],
    ['describes a prefix that is no path above', () => resource(`${origin}/mc`)],
    ['names a private address', () => resource(`${origin}/mcp`, 'http://127.0.0.1:9')],
    ['names no address', () => resource(`${origin}/mcp`, 'issuer')],
  ])('returns nothing for metadata that %s', async (_, changed) => {
    Object.assign(answers, changed());
    expect(await discover()).toBeUndefined();
  });

  const resource = (of: string, issuer = origin) => ({
    [`${RESOURCE}/mcp`]: { body: { resource: of, authorization_servers: [issuer] } },
  });

  it('rejects with the reason of the caller', async () => {
    const reason = new Error('cancelled');
    await expect(discover('/mcp', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});
