import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rowsOn } from '../../../support/sql.ts';
import { until } from '../../../support/wait.ts';
import { openVaultsSystem, type VaultsSystem } from '../system.ts';
import { alice, type ConnectionFixture, openConnectionFixture } from './connection-fixture.ts';

const HOUR_MS = 60 * 60_000;
const OWNER = { ownerId: alice.caller.userId };

describe('the refresh of access tokens', () => {
  const stack = new AsyncDisposableStack();
  let fixture: ConnectionFixture;
  /** Replicas on the same database. */
  let replicas: VaultsSystem[];
  beforeAll(async () => {
    fixture = stack.use(await openConnectionFixture('in process'));
    const { system, clock, remote, issuer } = fixture;
    const { databaseUrl, neighbours, context } = system;
    const privateHosts = [remote.port, issuer.port].map((port) => ({ host: '127.0.0.1', port }));
    const options = { databaseUrl, neighbours, clock, privateHosts, bus: context.bus };
    const others = [
      await openVaultsSystem('in process', options),
      await openVaultsSystem('in process', options),
    ];
    replicas = [system, ...others.map((other) => stack.use(other))];
  });
  afterAll(() => stack.disposeAsync());
  beforeEach(() => {
    fixture.issuer.tokenRequests.length = 0;
    fixture.issuer.onToken = undefined;
    fixture.system.auditLog.takeActs();
  });

  /** Answers each request for a token with a status. Returns the number of the requests. */
  function answerTokens(answer: (response: ServerResponse) => void): { count: number } {
    const requests = { count: 0 };
    fixture.issuer.onToken = (request, response) => {
      requests.count += 1;
      request.resume().on('end', () => answer(response));
    };
    return requests;
  }
  const json = (status: number, body: object) => (response: ServerResponse) =>
    void response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  /** Lets the time before the second and third request pass. */
  async function passRetries(requests: { count: number }): Promise<void> {
    await until('the issuer has three requests', () => {
      if (requests.count >= 3) return true;
      fixture.clock.advance(100);
      return false;
    });
  }
  const statusOf = async (connectionId: string) => {
    const { connections } = await fixture.edge.listConnections({}, alice);
    return connections.find((connection) => connection.connectionId === connectionId);
  };

  it('uses a token until a fifth of its lifetime remains', async () => {
    const { mcpServerId } = fixture.addServer();
    await fixture.connect(mcpServerId);
    fixture.issuer.tokenRequests.length = 0;
    fixture.clock.advance(0.79 * HOUR_MS);
    expect(await fixture.lend(mcpServerId)).toMatchObject({ generation: 1 });
    fixture.clock.advance(0.02 * HOUR_MS);
    expect(await fixture.lend(mcpServerId)).toMatchObject({ generation: 2 });
    expect(fixture.issuer.tokenRequests.map((request) => request.get('grant_type'))).toEqual([
      'refresh_token',
    ]);
    expect(fixture.issuer.tokenRequests[0]?.get('resource')).toBe(fixture.remote.url);
  });

  it('requests one token for 1,000 concurrent uses of an expired one over three replicas', async () => {
    const { mcpServerId } = fixture.addServer();
    await fixture.connect(mcpServerId);
    fixture.issuer.tokenRequests.length = 0;
    fixture.clock.advance(2 * HOUR_MS);
    const lease = fixture.system.leases.lease(OWNER);
    // On a busy machine some wait longer for a connection to the database than they may, and are repeated.
    const use = (at: number): ReturnType<VaultsSystem['lend']> =>
      replicas[at % 3]!.lend(lease, mcpServerId).catch((error: { code?: string }) => {
        if (error.code !== 'DEPENDENCY_UNAVAILABLE') throw error;
        return use(at);
      });
    const uses = Array.from({ length: 1_000 }, (_, at) => use(at));
    const lent = await Promise.all(uses);
    const headers = lent.map(([one]) => one?.headers?.Authorization);
    expect(new Set(headers).size).toBe(1);
    expect(await fixture.remote.accepts?.(headers[0] ?? '')).toBe(true);
    expect(fixture.issuer.tokenRequests).toHaveLength(1);
  });

  it('tries again after a failure of the issuer, and delays the next refresh after three', async () => {
    const { mcpServerId } = fixture.addServer();
    await fixture.connect(mcpServerId);
    fixture.clock.advance(2 * HOUR_MS);
    const requests = answerTokens(json(503, {}));
    const lending = fixture.lend(mcpServerId).catch(({ code }: { code: string }) => code);
    await passRetries(requests);
    expect(await lending).toBe('DEPENDENCY_UNAVAILABLE');
    expect(requests.count).toBe(3);
    const again = fixture.lend(mcpServerId).catch(({ code }: { code: string }) => code);
    expect(await again).toBe('DEPENDENCY_UNAVAILABLE');
    expect(requests.count).toBe(3);
    fixture.issuer.onToken = undefined;
    fixture.clock.advance(10 * 60_000);
    expect(await fixture.lend(mcpServerId)).toMatchObject({ generation: 2 });
  });

  it('keeps a connection when a proxy of the issuer answers with a page', async () => {
    const { mcpServerId } = fixture.addServer();
    const { connectionId } = await fixture.connect(mcpServerId);
    fixture.clock.advance(0.9 * HOUR_MS);
    const requests = answerTokens((response) => void response.writeHead(403).end('<html>Forbidden</html>'));
    const lending = fixture.lend(mcpServerId);
    await passRetries(requests);
    expect(await lending).toMatchObject({ generation: 1 });
    expect(await statusOf(connectionId)).toMatchObject({ status: 'active' });
  });

  it('uses a token to its end while the issuer is unavailable', async () => {
    const { mcpServerId } = fixture.addServer();
    await fixture.connect(mcpServerId);
    fixture.clock.advance(0.9 * HOUR_MS);
    const requests = answerTokens(json(500, {}));
    const lending = fixture.lend(mcpServerId);
    await passRetries(requests);
    expect(await lending).toMatchObject({ generation: 1 });
  });

  it('needs a new authorization when the issuer has ended the grant, and continues after it', async () => {
    const { mcpServerId } = fixture.addServer();
    const { connectionId } = await fixture.connect(mcpServerId);
    fixture.clock.advance(2 * HOUR_MS);
    answerTokens(json(400, { error: 'invalid_grant' }));
    expect(await fixture.lend(mcpServerId)).toMatchObject({ reason: 'expired', who: 'you' });
    expect(await statusOf(connectionId)).toMatchObject({ status: 'needs_connection' });
    expect(fixture.system.auditLog.takeActs().at(-1)).toContain(`credential.refresh ${connectionId}`);
    fixture.issuer.onToken = undefined;
    await fixture.connect(mcpServerId);
    expect(await fixture.lend(mcpServerId)).toMatchObject({ credentialId: connectionId, generation: 2 });
  });

  it('ignores a late refusal of an older generation', async () => {
    const { mcpServerId } = fixture.addServer();
    const { connectionId } = await fixture.connect(mcpServerId);
    fixture.clock.advance(2 * HOUR_MS);
    let held: ServerResponse | undefined;
    answerTokens((response) => {
      held = response;
    });
    const lending = fixture.lend(mcpServerId);
    await until('the issuer has the request', () => held !== undefined);
    fixture.issuer.onToken = undefined;
    await fixture.connect(mcpServerId);
    json(400, { error: 'invalid_grant' })(held!);
    expect(await lending).toMatchObject({ credentialId: connectionId, generation: 2 });
    expect(await statusOf(connectionId)).toMatchObject({ status: 'active' });
  });

  it('states that a grant was lost by a replica that ended before it stored the new token', async () => {
    const { mcpServerId } = fixture.addServer();
    const { connectionId } = await fixture.connect(mcpServerId);
    fixture.clock.advance(2 * HOUR_MS);
    const until = fixture.clock.now().toISOString();
    await rowsOn(
      fixture.system.databaseUrl,
      `update vaults.credentials set refreshing_until = '${until}' where credential_id = '${connectionId}' returning 1`,
    );
    answerTokens(json(400, { error: 'invalid_grant' }));
    expect(await fixture.lend(mcpServerId)).toMatchObject({ reason: 'expired' });
    expect(await statusOf(connectionId)).toMatchObject({
      statusReason: expect.stringContaining('refresh_lost'),
    });
  });

  it('refreshes a token once that its server refuses, and marks the next one as refused', async () => {
    const { mcpServerId } = fixture.addServer();
    const { connectionId } = await fixture.connect(mcpServerId);
    fixture.clock.advance(0.1 * HOUR_MS);
    const { lease, ...lent } = await fixture.lend(mcpServerId);
    const newer = await fixture.system.reportRefusal(lease, mcpServerId, lent);
    expect(newer).toMatchObject({ credentialId: connectionId, generation: 2 });
    expect(await fixture.system.reportRefusal(lease, mcpServerId, newer)).toMatchObject({
      reason: 'refused',
      who: 'you',
    });
    expect(
      fixture.issuer.tokenRequests.filter((one) => one.get('grant_type') === 'refresh_token'),
    ).toHaveLength(1);
  });

  it('asks for the scopes that a server demands, at most three times a day', async () => {
    const { mcpServerId } = fixture.addServer();
    const { connectionId } = await fixture.connect(mcpServerId);
    const { lease, ...lent } = await fixture.lend(mcpServerId);
    const demand = (scope: string) =>
      fixture.system.reportRefusal(
        ...([lease, mcpServerId, lent, 403] as const),
        `Bearer error="insufficient_scope", scope="${scope}"`,
      );
    expect(await demand('write')).toEqual({
      ...{ reason: 'scope', credentialId: connectionId, who: 'you', scopes: ['read', 'write'] },
    });
    const { result } = await fixture.begin(mcpServerId);
    const url = new URL(result?.$case === 'attempt' ? result.value.authorizationUrl : '');
    expect(url.searchParams.get('scope')).toBe('read write offline_access');
    for (const scope of ['a', 'b']) expect(await demand(scope)).toMatchObject({ reason: 'scope' });
    expect(await demand('c')).toMatchObject({ reason: 'refused' });
    fixture.clock.advance(24 * HOUR_MS);
    expect(await demand('d')).toMatchObject({ reason: 'scope' });
  });

  it('does not refresh when the audit log cannot record it', async () => {
    const { mcpServerId } = fixture.addServer();
    await fixture.connect(mcpServerId);
    fixture.issuer.tokenRequests.length = 0;
    fixture.clock.advance(2 * HOUR_MS);
    fixture.system.auditLog.failsToRecord = true;
    await expect(fixture.lend(mcpServerId)).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
    fixture.system.auditLog.failsToRecord = false;
    expect(fixture.issuer.tokenRequests).toEqual([]);
  });
});
