import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { rowsOn, runOn } from '../../support/sql.ts';
import { advanceUntil } from '../../support/wait.ts';
import { OWNER } from './fake-sessions.ts';
import { AGENT, ASSISTANT, OTHER_AGENT } from './fake-targets.ts';
import { administrator, newToken, openVaultsSystem, refusalOf, type VaultsSystem } from './system.ts';

describe.each(TRANSPORTS)('Lend, %s', (transport) => {
  const clock = createFakeClock();
  let system: VaultsSystem;
  beforeAll(async () => {
    system = await openVaultsSystem(transport, { clock });
  });
  afterAll(() => system[Symbol.asyncDispose]());
  beforeEach(() => void system.auditLog.takeActs());

  const assign = (vaultIds: string[], agentId = AGENT) =>
    system.edge.putAssignments(
      { target: { of: { $case: 'agentId', value: agentId } }, vaultIds, ifRevisions: undefined },
      administrator,
    );

  it('lends the header of a shared credential, sealed for the runner, for at most 60 seconds', async () => {
    const { mcpServerId, url } = system.targets.addServer();
    const { credentialId, token } = await system.assignToken(url, AGENT);
    const [lent] = await system.lend(system.leases.lease(), mcpServerId);
    expect(lent).toEqual({
      ...{ credentialId, generation: 1, source: 'shared', refreshable: false },
      headers: { Authorization: `Bearer ${token}` },
      usableUntil: new Date(clock.now().getTime() + 60_000),
    });
  });

  it('audits and journals a credential once for each turn and host', async () => {
    const { mcpServerId, url, name } = system.targets.addServer();
    const { credentialId, vaultId } = await system.assignToken(url, AGENT);
    system.auditLog.takeActs();
    const lease = system.leases.lease();
    for (let call = 0; call < 3; call++) await system.lend(lease, mcpServerId);
    await Promise.all([1, 2, 3].map(() => system.lend(lease, mcpServerId, mcpServerId)));
    const use = `${lease.turnId} ${credentialId} ${name}.example`;
    expect(system.auditLog.takeActs()).toEqual([`undefined credential.lend ${credentialId}`]);
    expect(system.leases.uses.filter((one) => one === use)).toHaveLength(1);
    expect(system.auditLog.data.at(-1)).toEqual({
      ...{ session_id: lease.sessionId, turn_id: lease.turnId, owner_id: OWNER, agent_id: AGENT },
      ...{ vault_id: vaultId, host: `${name}.example` },
    });
    await system.lend(system.leases.lease(), mcpServerId);
    expect(system.auditLog.takeActs()).toHaveLength(1);
  });

  it('refuses an ended lease and the lease of another turn, and audits the refusal once a minute', async () => {
    const { mcpServerId, url } = system.targets.addServer();
    await system.assignToken(url, AGENT);
    system.auditLog.takeActs();
    const [ended, other] = [system.leases.lease(), system.leases.lease()];
    system.leases.end(ended);
    const stolen = { ...other, turnId: ended.turnId };
    for (const lease of [ended, stolen, { ...other, fence: 2 }, undefined])
      expect(await refusalOf(system.lend(lease, mcpServerId))).toBe('LEASE_LOST');
    expect(system.auditLog.takeActs()).toEqual([
      `undefined credential.lend ${ended.turnId}`,
      `undefined credential.lend ${other.turnId}`,
      'undefined credential.lend ',
    ]);
    expect(system.auditLog.data.at(-1)).toEqual({ reason: 'lease_lost' });
    clock.advance(60_000);
    await refusalOf(system.lend(ended, mcpServerId));
    expect(system.auditLog.takeActs()).toHaveLength(1);
  });

  it('refuses and audits a server that the agent version does not have', async () => {
    const other = system.targets.addServer({}, OTHER_AGENT);
    await system.assignToken(other.url, AGENT);
    system.auditLog.takeActs();
    const lease = system.leases.lease();
    const unknown = 'mcp_0000000000000000000000ZZZZ';
    for (const id of [other.mcpServerId, unknown, 'mcp_1', ''])
      expect(await refusalOf(system.lend(lease, id))).toBe('MCP_SERVER_NOT_FOUND');
    expect(system.auditLog.takeActs()).toEqual(
      [other.mcpServerId, unknown, ''].map((id) => `undefined credential.lend ${id}`),
    );
    expect(system.auditLog.data.at(-1)).toMatchObject({
      reason: 'server_not_in_agent_version',
      turn_id: lease.turnId,
    });
  });

  it('uses no credential of a vault that is assigned to another agent', async () => {
    const { mcpServerId, url } = system.targets.addServer();
    await assign([]);
    await system.assignToken(url, OTHER_AGENT);
    const [missing] = await system.lend(system.leases.lease(), mcpServerId);
    expect(missing).toEqual({ reason: 'none', credentialId: '', who: 'administrator' });
  });

  it('lends for an assistant from its own vaults', async () => {
    const { mcpServerId, url } = system.targets.addServer({}, ASSISTANT);
    const { vaultId } = await system.createVault();
    const { credential } = await system.createCredential(
      { vaultId, mcpServerUrl: url },
      { token: newToken() },
    );
    const target = { of: { $case: 'assistantId' as const, value: ASSISTANT } };
    await system.edge.putAssignments({ target, vaultIds: [vaultId], ifRevisions: undefined }, administrator);
    const lease = system.leases.lease({ agentId: ASSISTANT, agentVersion: 0 });
    expect(await system.lend(lease, mcpServerId)).toMatchObject([
      { credentialId: credential?.credentialId, source: 'shared' },
    ]);
  });

  it('uses the first enabled credential of the vaults in their order', async () => {
    const { mcpServerId, url } = system.targets.addServer();
    const vaults = [await system.createVault(), await system.createVault()];
    const create = async (vaultId: string, members = {}) => {
      const answer = await system.createCredential(
        { vaultId, mcpServerUrl: url, ...members },
        { token: newToken() },
      );
      return answer.credential!;
    };
    const [first, second] = vaults.map(({ vaultId }) => vaultId) as [string, string];
    await create(second, { mcpServerUrl: `${url}/other` });
    const third = await create(first);
    const [oldest, newest] = [await create(second), await create(second)];
    await assign([second, first]);
    const lent = async () => (await system.lend(system.leases.lease(), mcpServerId))[0]?.credentialId;
    expect(await lent()).toBe(oldest.credentialId);
    await system.updateCredential(oldest, { enabled: false });
    expect(await lent()).toBe(newest.credentialId);
    await system.edge.updateVault(
      { vaultId: second, enabled: false, ifRevisions: undefined, name: undefined, description: undefined },
      administrator,
    );
    expect(await lent()).toBe(third.credentialId);
    await system.updateCredential(third, { enabled: false });
    expect(await system.lend(system.leases.lease(), mcpServerId)).toEqual([
      { reason: 'disabled', credentialId: oldest.credentialId, who: 'administrator' },
    ]);
  });

  it('lends no shared credential for a personal server', async () => {
    const { mcpServerId, url } = system.targets.addServer({ authorization: 'personal' });
    await system.assignToken(url, AGENT);
    const lent = await system.lend(system.leases.lease(), mcpServerId);
    expect(lent).toEqual([{ reason: 'not_connected', credentialId: '', who: 'you' }]);
  });

  it('lends nothing for a disabled server and for one without authorization', async () => {
    const disabled = system.targets.addServer({ enabled: false });
    const open = system.targets.addServer({ authorization: 'none' });
    for (const { url } of [disabled, open]) await system.assignToken(url, AGENT);
    expect(await system.lend(system.leases.lease(), disabled.mcpServerId, open.mcpServerId)).toEqual([
      { reason: 'disabled', credentialId: '', who: 'administrator' },
      { reason: 'none', credentialId: '', who: 'administrator' },
    ]);
  });

  it('lends nothing that cannot be audited or journaled, and records a repetition once', async () => {
    const { mcpServerId, url } = system.targets.addServer();
    const { credentialId } = await system.assignToken(url, AGENT);
    system.auditLog.takeActs();
    const lease = system.leases.lease();
    const ofTurn = () => system.leases.uses.filter((use) => use.startsWith(lease.turnId));
    system.auditLog.failsToRecord = true;
    expect(await refusalOf(system.lend(lease, mcpServerId))).toBe('DEPENDENCY_UNAVAILABLE');
    system.auditLog.failsToRecord = false;
    expect(ofTurn()).toEqual([]);
    system.leases.failsToJournal = true;
    expect(await refusalOf(system.lend(lease, mcpServerId))).toBe('DEPENDENCY_UNAVAILABLE');
    system.leases.failsToJournal = false;
    expect(system.auditLog.acts).toEqual([`undefined credential.lend ${credentialId}`]);
    expect(await system.lend(lease, mcpServerId)).toMatchObject([{ credentialId }]);
    expect(system.auditLog.takeActs()).toHaveLength(1);
    expect(ofTurn()).toHaveLength(1);
    system.leases.isDown = true;
    expect(await refusalOf(system.lend(lease, mcpServerId))).toBe('DEPENDENCY_UNAVAILABLE');
    system.leases.isDown = false;
  });

  it('reports a credential whose secret does not open as vault_sealed, without audit and use', async () => {
    const { mcpServerId, url } = system.targets.addServer();
    const { credentialId } = await system.assignToken(url, AGENT);
    await runOn(
      system.databaseUrl,
      `update vaults.credentials set sealed = '\\x00' where credential_id = '${credentialId}'`,
    );
    system.auditLog.takeActs();
    expect(await system.lend(system.leases.lease(), mcpServerId)).toEqual([
      { reason: 'vault_sealed', credentialId, who: 'administrator' },
    ]);
    expect(system.auditLog.takeActs()).toEqual([]);
  });

  it('notes the time of the last use at most once a minute', async () => {
    const { mcpServerId, url } = system.targets.addServer();
    const { vaultId, credentialId } = await system.assignToken(url, AGENT);
    const lastUse = async () => {
      const { credential } = await system.edge.getCredential({ vaultId, credentialId }, administrator);
      return credential?.lastUsedAt;
    };
    const lease = system.leases.lease();
    const start = clock.now();
    await system.lend(lease, mcpServerId);
    clock.advance(59_999);
    await system.lend(lease, mcpServerId);
    expect(await lastUse()).toEqual(start);
    clock.advance(1);
    await system.lend(lease, mcpServerId);
    expect(await lastUse()).toEqual(new Date(start.getTime() + 60_000));
  });

  it('refuses a call without needs, with too many, and without a request id', async () => {
    const lease = system.leases.lease();
    const { mcpServerId } = system.targets.addServer();
    expect(await refusalOf(system.lend(lease))).toBe('INVALID_REQUEST /needs');
    const many = Array.from({ length: 51 }, () => mcpServerId);
    expect(await refusalOf(system.lend(lease, ...many))).toBe('INVALID_REQUEST /needs');
    const needs = [system.needOf(mcpServerId)];
    expect(await refusalOf(system.runner.lend({ lease, needs }))).toBe('INVALID_REQUEST');
  });

  it('forgets lendings after 24 hours', async () => {
    await using own = await openVaultsSystem(transport, { clock });
    const { mcpServerId, url } = own.targets.addServer();
    await own.assignToken(url, AGENT);
    await own.lend(own.leases.lease(), mcpServerId);
    const count = async () => (await rowsOn(own.databaseUrl, 'select from vaults.lendings')).length;
    expect(await count()).toBe(1);
    await advanceUntil(
      'the lending is removed',
      () => clock.advance(60 * 60_000),
      async () => (await count()) === 0,
    );
  });
});

describe.each(TRANSPORTS)('ReportRefusal, %s', (transport) => {
  let system: VaultsSystem;
  beforeAll(async () => {
    system = await openVaultsSystem(transport);
  });
  afterAll(() => system[Symbol.asyncDispose]());
  beforeEach(() => void system.auditLog.takeActs());

  /** Lends a new credential to a new turn. */
  async function lendNew() {
    const { mcpServerId, url, name } = system.targets.addServer();
    const credential = await system.assignToken(url, AGENT);
    const lease = system.leases.lease();
    const [lent = {}] = await system.lend(lease, mcpServerId);
    system.auditLog.takeActs();
    const read = async () => (await system.edge.getCredential(credential, administrator)).credential;
    return { mcpServerId, name, credential, lease, lent, read };
  }

  it('marks the current secret as refused until it is changed', async () => {
    const { mcpServerId, name, credential, lease, lent, read } = await lendNew();
    const { credentialId } = credential;
    const missing = { reason: 'refused', credentialId, who: 'administrator' };
    expect(await system.reportRefusal(lease, mcpServerId, lent)).toEqual(missing);
    expect(system.auditLog.takeActs()).toEqual([`undefined credential.refuse ${credentialId}`]);
    expect(await read()).toMatchObject({
      status: 'refused',
      statusReason: `${name}.example refused the credential with status 401.`,
      revision: credential.revision + 1,
    });
    expect(await system.lend(lease, mcpServerId)).toEqual([missing]);
    expect(await system.reportRefusal(lease, mcpServerId, lent)).toEqual(missing);
    expect(system.auditLog.takeActs()).toEqual([]);
    const token = newToken();
    await system.updateCredential(credential, {}, { token });
    expect(await read()).toMatchObject({ status: 'active', statusReason: '' });
    expect(await system.lend(lease, mcpServerId)).toMatchObject([
      { credentialId, generation: 2, headers: { Authorization: `Bearer ${token}` } },
    ]);
  });

  it('lends the newer secret when the refused one is older, and does not mark it', async () => {
    const { mcpServerId, credential, lease, lent, read } = await lendNew();
    const token = newToken();
    await system.updateCredential(credential, {}, { token });
    expect(await system.reportRefusal(lease, mcpServerId, lent)).toMatchObject({
      generation: 2,
      headers: { Authorization: `Bearer ${token}` },
    });
    expect(await read()).toMatchObject({ status: 'active' });
  });

  it('does not mark a credential for a status of 403, and refuses other statuses', async () => {
    const { mcpServerId, lease, lent, read } = await lendNew();
    expect(await system.reportRefusal(lease, mcpServerId, lent, 403)).toMatchObject({ reason: 'refused' });
    expect(await read()).toMatchObject({ status: 'active' });
    expect(await refusalOf(system.reportRefusal(lease, mcpServerId, lent, 500))).toBe(
      'INVALID_REQUEST /status',
    );
  });

  it('refuses and audits a credential that was not lent to the turn for the server', async () => {
    const { mcpServerId, credential, lent, read } = await lendNew();
    const other = await lendNew();
    const cases = [
      { lease: system.leases.lease(), server: mcpServerId, lent },
      { lease: other.lease, server: other.mcpServerId, lent },
      { lease: other.lease, server: mcpServerId, lent },
      { lease: other.lease, server: other.mcpServerId, lent: { credentialId: 'crd_1', generation: 1 } },
    ];
    for (const { lease, server, lent: named } of cases)
      expect(await refusalOf(system.reportRefusal(lease, server, named))).toBe('CREDENTIAL_NOT_FOUND');
    expect(system.auditLog.takeActs()).toEqual(
      [...cases.slice(0, 2).map(() => credential.credentialId), ''].map(
        (id) => `undefined credential.lend ${id}`,
      ),
    );
    expect(await read()).toMatchObject({ status: 'active' });
  });

  it('marks nothing that cannot be audited', async () => {
    const { mcpServerId, lease, lent, read } = await lendNew();
    system.auditLog.failsToRecord = true;
    const refused = await refusalOf(system.reportRefusal(lease, mcpServerId, lent));
    system.auditLog.failsToRecord = false;
    expect(refused).toBe('DEPENDENCY_UNAVAILABLE');
    expect(await read()).toMatchObject({ status: 'active' });
  });

  it('refuses an ended lease', async () => {
    const { mcpServerId, lease, lent } = await lendNew();
    system.leases.end(lease);
    expect(await refusalOf(system.reportRefusal(lease, mcpServerId, lent))).toBe('LEASE_LOST');
  });
});
