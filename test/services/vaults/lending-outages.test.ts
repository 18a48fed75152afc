import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { type KmsPlugin, startKmsPlugin } from '../../support/kms/plugin.ts';
import { rowsOn } from '../../support/sql.ts';
import { advanceUntil, until } from '../../support/wait.ts';
import { AGENT } from './fake-targets.ts';
import { administrator, openVaultsSystem, type VaultsSystem } from './system.ts';

const MINUTE = 60_000;

describe('a KMS that is unavailable', () => {
  let stack: AsyncDisposableStack;
  let clock: FakeClock;
  let plugin: KmsPlugin;
  let system: VaultsSystem;
  const kmsKeys = { current: 'key-1', byId: { 'key-1': randomBytes(32), 'key-2': randomBytes(32) } };

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    clock = createFakeClock();
    kmsKeys.current = 'key-1';
    const directory = await mkdtemp(join(tmpdir(), 'kms-'));
    stack.defer(() => rm(directory, { recursive: true }));
    plugin = stack.use(await startKmsPlugin(join(directory, 'kms.sock'), () => kmsKeys));
    system = stack.use(await openVaultsSystem('in process', { clock, kmsSocket: plugin.socket }));
  });
  afterEach(() => stack.disposeAsync());

  const fail = async () => {
    throw new Error('the KMS is down');
  };
  const takeDown = () => plugin.override({ status: fail, encrypt: fail, decrypt: fail });
  const bringUp = () => plugin.override({ status: undefined, encrypt: undefined, decrypt: undefined });

  it('lets vaults lend until their data keys leave the memory, then reports vault_sealed, without an audit entry', async () => {
    const { mcpServerId, url } = system.targets.addServer();
    const { credentialId } = await system.assignToken(url, AGENT);
    takeDown();
    expect(await system.lend(system.leases.lease(), mcpServerId)).toMatchObject([{ credentialId }]);
    clock.advance(5 * MINUTE);
    system.auditLog.takeActs();
    const lease = system.leases.lease();
    expect(await system.lend(lease, mcpServerId)).toEqual([
      { reason: 'vault_sealed', credentialId, who: 'administrator' },
    ]);
    expect(system.auditLog.takeActs()).toEqual([]);
    expect(system.leases.uses.filter((use) => use.startsWith(lease.turnId))).toEqual([]);
    bringUp();
    expect(await system.lend(lease, mcpServerId)).toMatchObject([{ credentialId, source: 'shared' }]);
    expect(system.auditLog.takeActs()).toHaveLength(1);
  });

  it('interrupts a rotation, which ends after the outage, and lending continues meanwhile', async () => {
    const { mcpServerId, url } = system.targets.addServer();
    const { credentialId } = await system.assignToken(url, AGENT);
    const others = await Promise.all(
      Array.from({ length: 5 }, async () => system.createToken((await system.createVault()).vaultId)),
    );
    kmsKeys.current = 'key-2';
    let wrapped = 0;
    plugin.override({
      encrypt: async () => {
        wrapped += 1;
        takeDown();
        throw new Error('the KMS is down');
      },
    });
    const { rotation } = await system.edge.beginRotation({ vaultId: '' }, administrator);
    const rotationId = rotation?.rotationId ?? '';
    const read = async () => (await system.edge.getRotation({ rotationId }, administrator)).rotation;
    await advanceUntil(
      'the rotation meets the outage',
      () => clock.advance(1_000),
      () => wrapped > 0,
    );
    expect(await system.lend(system.leases.lease(), mcpServerId)).toMatchObject([{ credentialId }]);
    clock.advance(MINUTE);
    expect((await read())?.status).toBe('running');
    bringUp();
    const ended = await advanceUntil(
      'the rotation has ended',
      () => clock.advance(1_000),
      async () => {
        const now = await read();
        return now?.status === 'running' ? undefined : now;
      },
    );
    expect(ended).toMatchObject({ status: 'done', done: 6, total: 6 });
    const keks = await rowsOn(system.databaseUrl, 'select distinct kek_id from vaults.data_keys');
    expect(keks).toEqual([{ kek_id: 'kms:key-2' }]);
    clock.advance(5 * MINUTE);
    for (const credential of others) expect(await system.test(credential)).toBe('unknown');
    expect(await system.lend(system.leases.lease(), mcpServerId)).toMatchObject([{ credentialId }]);
  });

  it('refuses a new credential with VAULT_SEALED, and lends those of other vaults from memory', async () => {
    const { mcpServerId, url } = system.targets.addServer();
    const { credentialId } = await system.assignToken(url, AGENT);
    const { vaultId } = await system.createVault();
    takeDown();
    await expect(system.createToken(vaultId)).rejects.toMatchObject({ code: 'VAULT_SEALED' });
    expect(await system.lend(system.leases.lease(), mcpServerId)).toMatchObject([{ credentialId }]);
    await until('the plugin was asked', () => plugin.calls.length > 0);
  });
});
