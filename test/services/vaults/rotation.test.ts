import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Rotation } from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { rowsOn, runOn } from '../../support/sql.ts';
import { until } from '../../support/wait.ts';
import {
  administrator,
  member,
  newToken,
  openVaultsSystem,
  refusalOf,
  SEALING_KEY,
  UNKNOWN_VAULT,
  type VaultsSystem,
} from './system.ts';

const NEW_KEY = 'another sealing key of more than 32 characters';

describe.each(TRANSPORTS)('rotations of keys, %s', (transport) => {
  let system: VaultsSystem;
  beforeAll(async () => {
    system = await openVaultsSystem(transport);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  /** Starts a rotation and waits for its end. */
  async function rotate(vaultId: string, of: VaultsSystem = system): Promise<Rotation> {
    const { rotation } = await of.edge.beginRotation({ vaultId }, administrator);
    return ended(rotation?.rotationId ?? '', of);
  }

  const ended = (rotationId: string, of: VaultsSystem = system) =>
    until('the rotation has ended', async () => {
      const { rotation } = await of.edge.getRotation({ rotationId }, administrator);
      return rotation?.status === 'running' ? undefined : rotation;
    });

  const keysOf = (vaultId: string) =>
    rowsOn<{ generation: number; kek_id: string }>(
      system.databaseUrl,
      `select generation, kek_id from vaults.data_keys where vault_id = '${vaultId}' order by generation`,
    );

  it('seals the credentials of one vault with a new data key, and keeps fingerprints and revisions', async () => {
    const { vaultId } = await system.createVault();
    const credential = await system.createToken(vaultId);
    const other = await system.createToken((await system.createVault()).vaultId);
    expect(await rotate(vaultId)).toMatchObject({ vaultId, status: 'done', done: 1, total: 1 });
    expect(await keysOf(vaultId)).toEqual([expect.objectContaining({ generation: 2 })]);
    expect(await keysOf(other.vaultId)).toEqual([expect.objectContaining({ generation: 1 })]);
    expect(await system.test(credential)).toBe('unknown');
    const { credential: after } = await system.edge.getCredential(credential, administrator);
    expect(after).toEqual(credential);
  });

  it('ends at once for a vault without credentials', async () => {
    const { vaultId } = await system.createVault();
    expect(await rotate(vaultId)).toMatchObject({ status: 'done', done: 0, total: 0 });
  });

  it('returns the running rotation to a second start', async () => {
    await runOn(
      system.databaseUrl,
      `insert into vaults.rotations (rotation_id, vault_id, status, total, from_kek, to_kek, worker, heartbeat_at, started_by, started_at)
       values ('rot_01M7XYC91CC5TE06JQWDWRTJVA', '', 'running', 7, '', '', 'another replica', now() + interval '1 hour', '', now())`,
    );
    const starts = await Promise.all(
      ['', ''].map((vaultId) => system.edge.beginRotation({ vaultId }, administrator)),
    );
    for (const { rotation } of starts)
      expect(rotation).toMatchObject({
        rotationId: 'rot_01M7XYC91CC5TE06JQWDWRTJVA',
        status: 'running',
        total: 7,
      });
    await runOn(system.databaseUrl, `delete from vaults.rotations where status = 'running'`);
  });

  it('starts one rotation for concurrent requests', async () => {
    const { vaultId } = await system.createVault();
    for (let index = 0; index < 20; index++) await system.createToken(vaultId);
    const starts = await Promise.all(
      [1, 2, 3, 4].map(() => system.edge.beginRotation({ vaultId }, administrator)),
    );
    const rotationIds = new Set(starts.map(({ rotation }) => rotation?.rotationId ?? ''));
    for (const rotationId of rotationIds) expect((await ended(rotationId)).status).toBe('done');
    const { length: count } = await keysOf(vaultId);
    expect(count).toBe(1);
  });

  it('permits changes, new credentials and tests while it runs', async () => {
    const { vaultId } = await system.createVault();
    const credentials = await Promise.all(Array.from({ length: 30 }, () => system.createToken(vaultId)));
    const rotation = rotate(vaultId);
    const work = credentials.map(async (credential, index) => {
      if (index % 3 === 0) await system.updateCredential(credential, {}, { token: newToken() });
      if (index % 3 === 1) return system.createToken(vaultId);
      expect(await system.test(credential)).toBe('unknown');
      return credential;
    });
    const all = await Promise.all(work);
    expect(await rotation).toMatchObject({ status: 'done' });
    for (const credential of [...credentials, ...all]) expect(await system.test(credential)).toBe('unknown');
    const used = await rowsOn<{ key_generation: number }>(
      system.databaseUrl,
      `select distinct key_generation from vaults.credentials where vault_id = '${vaultId}'`,
    );
    expect(used).toEqual([{ key_generation: 2 }]);
    expect(await keysOf(vaultId)).toEqual([expect.objectContaining({ generation: 2 })]);
  });

  it('fails for a credential that does not open, seals the others anew and keeps the old key', async () => {
    const { vaultId } = await system.createVault();
    const [broken, intact] = [await system.createToken(vaultId), await system.createToken(vaultId)];
    await runOn(
      system.databaseUrl,
      `update vaults.credentials set sealed = '\\x00' where credential_id = '${broken.credentialId}'`,
    );
    expect(await rotate(vaultId)).toMatchObject({ status: 'failed', done: 1, total: 2 });
    expect((await keysOf(vaultId)).map(({ generation }) => generation)).toEqual([1, 2]);
    expect(await system.test(intact)).toBe('unknown');
    expect(await system.test(broken)).toBe('VAULT_SEALED');
    await system.updateCredential(broken, {}, { token: newToken() });
    expect(await system.test(broken)).toBe('unknown');
    expect(await rotate(vaultId)).toMatchObject({ status: 'done' });
    expect((await keysOf(vaultId)).map(({ generation }) => generation)).toEqual([3]);
  });

  it('wraps all data keys with a new SERVICE_SEALING_KEY, and the former key can then be removed', async () => {
    await using own = await openVaultsSystem(transport);
    const credential = await own.createToken((await own.createVault()).vaultId);
    const { databaseUrl } = own;
    await expect(openVaultsSystem(transport, { databaseUrl, sealingKey: NEW_KEY })).rejects.toThrow(
      /the key [0-9a-f]{8}, with which the database was sealed, is missing \(configured: [0-9a-f]{8}\)/,
    );
    {
      await using both = await openVaultsSystem(transport, {
        databaseUrl,
        sealingKey: `${NEW_KEY},${SEALING_KEY}`,
      });
      const rotation = await rotate('', both);
      expect(rotation).toMatchObject({ vaultId: '', status: 'done', done: 1, total: 1 });
    }
    await using later = await openVaultsSystem(transport, { databaseUrl, sealingKey: NEW_KEY });
    expect(await later.test(credential)).toBe('unknown');
  });

  it('is for administrators, and refuses unknown vaults and rotations', async () => {
    const rotationId = 'rot_01M7XYC91CC5TE06JQWDWRTJVB';
    expect(await refusalOf(system.edge.beginRotation({ vaultId: '' }, member))).toBe('FORBIDDEN');
    expect(await refusalOf(system.edge.getRotation({ rotationId }, member))).toBe('FORBIDDEN');
    expect(await refusalOf(system.edge.beginRotation({ vaultId: UNKNOWN_VAULT }, administrator))).toBe(
      'VAULT_NOT_FOUND',
    );
    for (const id of [rotationId, 'rot_1', ''])
      expect(await refusalOf(system.edge.getRotation({ rotationId: id }, administrator))).toBe(
        'ROTATION_NOT_FOUND',
      );
  });

  it('records the start, and does not start a rotation that cannot be recorded', async () => {
    const { vaultId } = await system.createVault();
    system.auditLog.takeActs();
    await rotate(vaultId);
    expect(system.auditLog.takeActs()).toEqual([`${administrator.caller.userId} vault.rotate ${vaultId}`]);
    system.auditLog.failsToRecord = true;
    const before = await rowsOn(system.databaseUrl, 'select rotation_id from vaults.rotations');
    const refused = await refusalOf(system.edge.beginRotation({ vaultId }, administrator));
    system.auditLog.failsToRecord = false;
    expect(refused).toBe('DEPENDENCY_UNAVAILABLE');
    expect(await rowsOn(system.databaseUrl, 'select rotation_id from vaults.rotations')).toEqual(before);
  });
});
