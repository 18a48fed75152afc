import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  AuthorizationServer,
  protectServer,
  RESOURCE_METADATA,
} from '../../../support/authorization-server.ts';
import { TRANSPORTS } from '../../../support/context.ts';
import { PUBLIC_URL, refusalOf } from '../system.ts';
import {
  alice,
  BROWSER,
  bob,
  type ConnectionFixture,
  digestOf,
  openConnectionFixture,
  userOf,
} from './connection-fixture.ts';

describe.each(TRANSPORTS)('connections to MCP servers, %s', (transport) => {
  let fixture: ConnectionFixture;
  beforeAll(async () => {
    fixture = await openConnectionFixture(transport);
  });
  afterAll(() => fixture[Symbol.asyncDispose]());
  beforeEach(() => {
    fixture.issuer.requests.length = 0;
    fixture.issuer.tokenRequests.length = 0;
    fixture.system.auditLog.takeActs();
  });

  it('connects a user, whose sessions then get the access token', async () => {
    const { mcpServerId, name } = fixture.addServer();
    expect(await fixture.lend(mcpServerId)).toMatchObject({ reason: 'not_connected', who: 'you' });
    const finished = await fixture.finish(await fixture.authorize(mcpServerId));
    expect(finished).toMatchObject({
      returnTo: '/sessions',
      connection: { mcpServerId, name, host: `127.0.0.1:${fixture.remote.port}`, status: 'active' },
    });
    const lent = await fixture.lend(mcpServerId);
    expect(lent).toMatchObject({ source: 'personal', credentialId: finished.connection?.connectionId });
    const { Authorization = '' } = lent.headers ?? {};
    expect(await fixture.remote.accepts?.(Authorization)).toBe(true);
    expect(fixture.system.leases.resolved).toContain(`${alice.caller.userId} ${mcpServerId}`);
    expect(await fixture.lend(mcpServerId, bob)).toMatchObject({ reason: 'not_connected' });
  });

  it('sends resource, PKCE with S256 and a state, and names the resource in the token request', async () => {
    const { mcpServerId } = fixture.addServer();
    const { result } = await fixture.begin(mcpServerId);
    const url = new URL(result?.$case === 'attempt' ? result.value.authorizationUrl : '');
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      ...{ response_type: 'code', code_challenge_method: 'S256', resource: fixture.remote.url },
      ...{ redirect_uri: 'http://127.0.0.1:8080/api/v1/auth/connections/callback' },
      ...{ scope: 'read offline_access', state: expect.stringMatching(/^[\w-]{43}$/) },
    });
    await fixture.finish(await fixture.issuer.authorize(url.href, alice.caller.userId));
    const [request] = fixture.issuer.tokenRequests;
    expect(request?.get('resource')).toBe(fixture.remote.url);
    expect(request?.get('code_verifier')).toMatch(/^[\w-]{43}$/);
  });

  it('registers once for all servers of an issuer', async () => {
    await fixture.authorize(fixture.addServer().mcpServerId);
    fixture.issuer.requests.length = 0;
    await fixture.authorize(fixture.addServer().mcpServerId);
    expect(fixture.issuer.requests).not.toContain('POST /reg');
  });

  it('registers at an issuer that does not tell when the secret of the client ends', async () => {
    await using issuer = await AuthorizationServer.open({ origin: PUBLIC_URL });
    issuer.onRegistration = (request, response) => {
      const answer = { client_id: 'a-new-client', client_secret: 'its secret' };
      request.resume().on('end', () => {
        response.writeHead(201, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer));
      });
    };
    await using other = await openConnectionFixture('in process', { issuer });
    const { result } = await other.begin(other.addServer().mcpServerId);
    const url = new URL(result?.$case === 'attempt' ? result.value.authorizationUrl : '');
    expect(url.searchParams.get('client_id')).toBe('a-new-client');
  });

  it.each<[string, (query: string) => Promise<unknown>]>([
    ['of another user', (query) => fixture.finish(query, bob)],
    ['of another browser', (query) => fixture.finish(query, alice, digestOf('another browser'))],
    ['of a browser without a cookie', (query) => fixture.finish(query, alice, new Uint8Array())],
    ['with another issuer', (query) => fixture.finish(query.replace(/iss=[^&]*/, 'iss=https%3A%2F%2Fother'))],
    [
      'with another state',
      (query) => fixture.finish(query.replace(/state=[^&]*/, `state=${'a'.repeat(43)}`)),
    ],
    ['with two states', (query) => fixture.finish(`${query}&state=${'a'.repeat(43)}`)],
    ['without a state', (query) => fixture.finish(query.replace(/&?state=[^&]*/, ''))],
  ])('refuses an answer %s without a request for a token', async (_, finish) => {
    const query = await fixture.authorize(fixture.addServer().mcpServerId);
    expect(await refusalOf(finish(query))).toBe('CONNECTION_REFUSED');
    expect(fixture.issuer.requests).not.toContain('POST /token');
    expect(fixture.system.auditLog.takeActs().at(-1)).toContain('connection.refuse');
  });

  it('refuses a used and an expired answer', async () => {
    const { mcpServerId } = fixture.addServer();
    const query = await fixture.authorize(mcpServerId);
    await fixture.finish(query);
    expect(await refusalOf(fixture.finish(query))).toBe('CONNECTION_REFUSED');
    const late = await fixture.authorize(mcpServerId);
    fixture.clock.advance(30 * 60_000);
    expect(await refusalOf(fixture.finish(late))).toBe('CONNECTION_REFUSED');
    expect(fixture.issuer.tokenRequests).toHaveLength(1);
  });

  it('ends the oldest attempt of a user with more than twenty', async () => {
    const { mcpServerId } = fixture.addServer();
    const erin = userOf('E');
    const first = await fixture.authorize(mcpServerId, erin);
    for (let attempt = 0; attempt < 20; attempt++) await fixture.begin(mcpServerId, erin);
    expect(await refusalOf(fixture.finish(first, erin))).toBe('CONNECTION_REFUSED');
    expect(await refusalOf(fixture.finish(await fixture.authorize(mcpServerId, erin), erin))).toBe('OK');
  });

  it('refuses the answer of a user who declines, with the same message', async () => {
    const { mcpServerId } = fixture.addServer();
    const state = new URLSearchParams(await fixture.authorize(mcpServerId)).get('state');
    const declined = fixture.finish(`error=access_denied&error_description=secret+text&state=${state}`);
    await expect(declined).rejects.toMatchObject({
      code: 'CONNECTION_REFUSED',
      message: 'The connection failed. Begin it again.',
    });
  });

  it('requires a login, not a token', async () => {
    const { mcpServerId } = fixture.addServer();
    expect(await refusalOf(fixture.begin(mcpServerId, userOf('A', 'tok_1')))).toBe('FORBIDDEN');
  });

  it('lists the connections of the caller alone, and the servers without one', async () => {
    const server = fixture.addServer();
    const other = fixture.addServer();
    fixture.addServer({ authorization: 'shared' });
    const carol = userOf('C');
    const { connectionId } = await fixture.connect(server.mcpServerId, carol);
    const { connections, available } = await fixture.edge.listConnections({}, carol);
    expect(connections).toMatchObject([
      { connectionId, mcpServerId: server.mcpServerId, scopes: ['read'], useInTriggeredSessions: false },
    ]);
    const offered = available.map(({ mcpServerId }) => mcpServerId);
    expect(offered).toContain(other.mcpServerId);
    expect(offered).not.toContain(server.mcpServerId);
    expect(await fixture.edge.listConnections({}, userOf('D'))).toMatchObject({ connections: [] });
  });

  it('revokes the tokens of a deleted connection at their issuer', async () => {
    const { mcpServerId } = fixture.addServer();
    const { connectionId } = await fixture.connect(mcpServerId);
    const { Authorization = '' } = (await fixture.lend(mcpServerId)).headers ?? {};
    const deletion = { connectionId, ifRevisions: undefined };
    expect(await refusalOf(fixture.edge.deleteConnection(deletion, bob))).toBe('CONNECTION_NOT_FOUND');
    await fixture.edge.deleteConnection(deletion, alice);
    expect(await fixture.remote.accepts?.(Authorization)).toBe(false);
    expect(await fixture.lend(mcpServerId)).toMatchObject({ reason: 'not_connected' });
    expect(await refusalOf(fixture.edge.deleteConnection(deletion, alice))).toBe('CONNECTION_NOT_FOUND');
  });

  it.each([
    ['a session of a deployment', { deploymentId: 'dep_01M7XYC91CC5TE06JQWDWRTJVA' }],
    ['a turn of a schedule in a session of its creator', { triggered: true }],
  ])('serves %s after the consent of the user alone', async (_, started) => {
    const { mcpServerId } = fixture.addServer();
    const { connectionId } = await fixture.connect(mcpServerId);
    expect(await fixture.lend(mcpServerId, alice, started)).toMatchObject({ reason: 'not_connected' });
    const change = { connectionId, useInTriggeredSessions: true, ifRevisions: undefined };
    await fixture.edge.updateConnection(change, alice);
    expect(await fixture.lend(mcpServerId, alice, started)).toMatchObject({ credentialId: connectionId });
  });

  it('serves a probe of its own user, and of no other', async () => {
    const { mcpServerId } = fixture.addServer();
    const { connectionId } = await fixture.connect(mcpServerId);
    const { remote, system } = fixture;
    const probe = (by = alice, url = remote.url) =>
      system.connection.as('agents').probe(
        {
          ...{ mcpServerId, url, transport: 'streamable_http', timeoutSeconds: 20, anyShared: false },
          credentialId: connectionId,
        },
        by,
      );
    expect(await probe()).toMatchObject({ reachable: true });
    expect(await refusalOf(probe(bob))).toBe('CREDENTIAL_NOT_FOUND');
    expect(await refusalOf(probe(alice, `${remote.url}/other`))).toBe('CREDENTIAL_NOT_FOUND');
  });

  it('replaces the connection to the same server', async () => {
    const { mcpServerId } = fixture.addServer();
    const first = await fixture.connect(mcpServerId);
    const second = await fixture.connect(mcpServerId);
    expect(second.connectionId).toBe(first.connectionId);
    expect(await fixture.lend(mcpServerId)).toMatchObject({ generation: 2 });
  });

  it('refuses to connect to servers without personal credentials, disabled and unknown ones', async () => {
    const ids = [
      fixture.addServer({ authorization: 'shared' }).mcpServerId,
      fixture.addServer({ enabled: false }).mcpServerId,
      'mcp_7ZZZZZZZZZZZZZZZZZZZZZZZZZ',
    ];
    for (const id of ids) expect(await refusalOf(fixture.begin(id))).toBe('MCP_SERVER_NOT_FOUND');
  });

  it('answers MCP_SERVER_UNREACHABLE for a server that does not answer', async () => {
    const { mcpServerId } = fixture.addServer({ url: 'http://mcp.internal.example:8443/mcp' });
    expect(await refusalOf(fixture.begin(mcpServerId))).toBe('MCP_SERVER_UNREACHABLE');
  });

  it('connects with a token to a server without OAuth, if the server accepts the token', async () => {
    const { mcpServerId } = fixture.addServer();
    const { remote } = fixture;
    delete remote.documents[RESOURCE_METADATA];
    remote.refusal = { status: 401, challenge: 'Bearer' };
    remote.accepts = (authorization) => authorization === 'Bearer valid-token';
    try {
      expect(await refusalOf(fixture.begin(mcpServerId))).toBe('INVALID_REQUEST /token');
      const refused = fixture.begin(mcpServerId, alice, BROWSER, 'another-token');
      expect(await refusalOf(refused)).toBe('INVALID_REQUEST /token');
      const { result } = await fixture.begin(mcpServerId, alice, BROWSER, 'valid-token');
      expect(result).toMatchObject({ $case: 'connection', value: { mcpServerId, status: 'active' } });
      expect((await fixture.lend(mcpServerId)).headers).toEqual({ Authorization: 'Bearer valid-token' });
    } finally {
      protectServer(remote, fixture.issuer);
    }
  });
});
