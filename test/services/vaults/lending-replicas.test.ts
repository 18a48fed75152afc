import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Bus } from '../../../lib/bus/bus.ts';
import { createLocalBus } from '../../../lib/bus/local.ts';
import { createFakeClock } from '../../support/clock.ts';
import { AGENT, ASSISTANT } from './fake-targets.ts';
import { administrator, newToken, openVaultsSystem, refusalOf, type VaultsSystem } from './system.ts';

/** A bus that loses every hint. */
const lossy = (): Bus => ({ ...createLocalBus(), publish: () => {} });

describe.each(['with hints', 'without hints'])('changes on another replica, %s', (hints) => {
  const clock = createFakeClock();
  const bus = hints === 'with hints' ? createLocalBus() : lossy();
  const published: string[] = [];
  const stack = new AsyncDisposableStack();
  let first: VaultsSystem;
  let second: VaultsSystem;
  beforeAll(async () => {
    bus.subscribe('credentials.changed', (subject) => published.push(subject));
    first = stack.use(await openVaultsSystem('in process', { clock, bus }));
    const { databaseUrl, neighbours } = first;
    second = stack.use(await openVaultsSystem('in process', { clock, bus, databaseUrl, neighbours }));
  });
  afterAll(() => stack.disposeAsync());

  /** A credential that the second replica has just lent to a turn. */
  async function lentOnSecond() {
    const server = first.targets.addServer();
    const credential = await first.assignToken(server.url, AGENT);
    const lease = first.leases.lease();
    const lend = async () => (await second.lend(lease, server.mcpServerId))[0];
    expect(await lend()).toMatchObject({ credentialId: credential.credentialId });
    published.length = 0;
    return { server, credential, lease, lend };
  }

  const changes: [
    string,
    (credential: { credentialId: string; vaultId: string }) => Promise<unknown>,
    object,
  ][] = [
    [
      'a disabled credential',
      (credential) => first.updateCredential(credential, { enabled: false }),
      { reason: 'disabled' },
    ],
    [
      'a deleted credential',
      (credential) => first.edge.deleteCredential({ ...credential, ifRevisions: undefined }, administrator),
      { reason: 'none' },
    ],
    [
      'a disabled vault',
      ({ vaultId }) =>
        first.edge.updateVault(
          {
            ...{ vaultId, enabled: false, ifRevisions: undefined },
            ...{ name: undefined, description: undefined },
          },
          administrator,
        ),
      { reason: 'disabled' },
    ],
    [
      'removed vaults of the agent',
      () =>
        first.edge.putAssignments(
          {
            target: { of: { $case: 'agentId', value: AGENT } },
            vaultIds: [],
            ifRevisions: undefined,
          },
          administrator,
        ),
      { reason: 'none' },
    ],
    [
      'a changed secret',
      (credential) => first.updateCredential(credential, {}, { token: newToken() }),
      { generation: 2 },
    ],
  ];
  it.each(changes)('%s takes effect at once', async (_, change, expected) => {
    const { credential, lend } = await lentOnSecond();
    await change(credential);
    expect(await lend()).toMatchObject(expected);
    if (hints === 'with hints') {
      const { credentialId, vaultId } = credential;
      expect(published).toHaveLength(1);
      expect([credentialId, vaultId, AGENT]).toContain(published[0]);
    }
  });

  it('a deleted vault takes effect at once', async () => {
    const { credential, lend } = await lentOnSecond();
    await first.edge.putAssignments(
      { target: { of: { $case: 'agentId', value: AGENT } }, vaultIds: [], ifRevisions: undefined },
      administrator,
    );
    await first.edge.deleteVault({ vaultId: credential.vaultId, ifRevisions: undefined }, administrator);
    expect(await lend()).toMatchObject({ reason: 'none' });
    if (hints === 'with hints') expect(published).toEqual([AGENT, credential.vaultId]);
  });

  it('a refused credential takes effect at once', async () => {
    const { server, credential, lease, lend } = await lentOnSecond();
    await first.reportRefusal(lease, server.mcpServerId, { ...credential, generation: 1 });
    expect(await lend()).toMatchObject({ reason: 'refused' });
    if (hints === 'with hints') expect(published).toEqual([credential.credentialId]);
  });

  it('a disabled, deleted or removed MCP server takes effect within a second', async () => {
    const lendAfter = async (
      change: (server: Awaited<ReturnType<typeof lentOnSecond>>['server']) => void,
    ) => {
      const { server, lend } = await lentOnSecond();
      change(server);
      if (hints === 'with hints') bus.publish('extensions.changed', server.mcpServerId);
      else clock.advance(1_000);
      return lend().catch(({ code }: { code: string }) => code);
    };
    expect(await lendAfter((server) => first.targets.putServer({ ...server, enabled: false }))).toMatchObject(
      {
        reason: 'disabled',
      },
    );
    expect(await lendAfter(({ mcpServerId }) => first.targets.deleteServer(mcpServerId))).toBe(
      'MCP_SERVER_NOT_FOUND',
    );
  });

  it('a server that an assistant has lost is refused within a second', async () => {
    const server = first.targets.addServer({}, ASSISTANT);
    const lease = first.leases.lease({ agentId: ASSISTANT, agentVersion: 0 });
    const lend = () => second.lend(lease, server.mcpServerId);
    expect(await lend()).toMatchObject([{ reason: 'none' }]);
    first.targets.serverIds.set(ASSISTANT, []);
    if (hints === 'with hints') bus.publish('agents.changed', ASSISTANT);
    else clock.advance(1_000);
    expect(await refusalOf(lend())).toBe('MCP_SERVER_NOT_FOUND');
  });
});

describe('a replica that ends between the audit entry and the journal', () => {
  it('is continued by another one, which writes no second entry', async () => {
    await using first = await openVaultsSystem('in process');
    const { databaseUrl, neighbours } = first;
    await using second = await openVaultsSystem('in process', { databaseUrl, neighbours });
    const { mcpServerId, url } = first.targets.addServer();
    const { credentialId } = await first.assignToken(url, AGENT);
    first.auditLog.takeActs();
    const lease = first.leases.lease();
    first.leases.failsToJournal = true;
    expect(await refusalOf(first.lend(lease, mcpServerId))).toBe('DEPENDENCY_UNAVAILABLE');
    first.leases.failsToJournal = false;
    await first.stop();
    expect(await second.lend(lease, mcpServerId)).toMatchObject([{ credentialId }]);
    expect(first.auditLog.takeActs()).toEqual([`undefined credential.lend ${credentialId}`]);
    expect(first.leases.uses).toHaveLength(1);
  });
});

describe('lookups of agents and servers', () => {
  it('are repeated for a server after a second, and not for a version of an agent', async () => {
    const clock = createFakeClock();
    await using system = await openVaultsSystem('in process', { clock });
    const { mcpServerId, url } = system.targets.addServer();
    await system.assignToken(url, AGENT);
    const lease = system.leases.lease();
    const before = system.targets.versionsRead.length;
    for (let second = 0; second < 3; second++) {
      for (let call = 0; call < 3; call++) await system.lend(lease, mcpServerId);
      clock.advance(1_000);
    }
    expect(system.targets.lookedUp).toEqual([mcpServerId, mcpServerId, mcpServerId]);
    expect(system.targets.versionsRead.length - before).toBe(1);
  });
});
