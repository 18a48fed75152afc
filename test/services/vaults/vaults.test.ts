import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallOptions } from '../../../lib/grpc/contract.ts';
import type { UpdateVaultRequest, Vault } from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { runOn } from '../../support/sql.ts';
import {
  administrator,
  member,
  openVaultsSystem,
  otherAdministrator,
  UNKNOWN_VAULT,
  type VaultsSystem,
  vaultRequest,
} from './system.ts';

describe.each(TRANSPORTS)('vaults, %s', (transport) => {
  let system: VaultsSystem;
  beforeAll(async () => {
    system = await openVaultsSystem(transport);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const refusalOf = (call: Promise<unknown>) =>
    call.then(
      () => 'OK',
      (error: { code: string; details?: { pointer: string }[] }) =>
        [error.code, ...(error.details ?? []).map(({ pointer }) => pointer)].join(' '),
    );
  const update = (vaultId: string, members: Partial<UpdateVaultRequest>, by: CallOptions = administrator) =>
    system.edge.updateVault({ vaultId, ifRevisions: undefined, ...members }, by);
  const remove = (vaultId: string, by: CallOptions = administrator) =>
    system.edge.deleteVault({ vaultId, ifRevisions: undefined }, by);
  const idsOf = ({ vaults }: { vaults: Vault[] }) => vaults.map(({ vaultId }) => vaultId);

  it('returns a created vault, with the trimmed name and without credentials and assignments', async () => {
    const vault = await system.createVault({ name: '  Trimmed  ', description: 'For tests' });
    expect(vault).toMatchObject({
      vaultId: expect.stringMatching(/^vlt_/),
      kind: 'shared',
      ownerId: '',
      name: 'Trimmed',
      description: 'For tests',
      enabled: true,
      credentialCount: 0,
      assignmentCount: 0,
      revision: 1,
      createdBy: administrator.caller.userId,
    });
    expect((await system.edge.getVault({ vaultId: vault.vaultId }, administrator)).vault).toEqual(vault);
  });

  it('creates one vault for repeated requests with an Idempotency-Key, and refuses another request with it', async () => {
    const request = vaultRequest({ idempotencyKey: `key-${transport}` });
    const first = await system.edge.createVault(request, administrator);
    const second = await system.edge.createVault(request, administrator);
    expect(first.replayed).toBe(false);
    expect(second).toEqual({ ...first, replayed: true });
    const other = { ...request, description: 'another one' };
    expect(await refusalOf(system.edge.createVault(other, administrator))).toBe('IDEMPOTENCY_KEY_CONFLICT');
  });

  it.each([
    [{ name: '' }, 'INVALID_REQUEST /name'],
    [{ name: ' ' }, 'INVALID_REQUEST /name'],
    [{ name: 'n'.repeat(201) }, 'INVALID_REQUEST /name'],
    [{ description: 'd'.repeat(2_001) }, 'INVALID_REQUEST /description'],
    [{ name: 'a\0b' }, 'INVALID_TEXT /name'],
  ])('refuses to create a vault with %j', async (members, refusal) => {
    expect(await refusalOf(system.edge.createVault(vaultRequest(members), administrator))).toBe(refusal);
  });

  it('refuses a name that another shared vault has, also for concurrent requests', async () => {
    const { name } = await system.createVault();
    expect(await refusalOf(system.edge.createVault(vaultRequest({ name }), administrator))).toBe(
      'NAME_TAKEN /name',
    );
    const fresh = vaultRequest();
    const calls = [1, 2, 3].map(() => refusalOf(system.edge.createVault(fresh, administrator)));
    expect((await Promise.all(calls)).toSorted()).toEqual(['NAME_TAKEN /name', 'NAME_TAKEN /name', 'OK']);
    const { vaultId } = await system.createVault();
    expect(await refusalOf(update(vaultId, { name }, administrator))).toBe('NAME_TAKEN /name');
  });

  it('changes only the given members and counts the revision', async () => {
    const vault = await system.createVault({ description: 'before' });
    const { vaultId } = vault;
    const { vault: disabled } = await update(vaultId, { enabled: false }, administrator);
    expect(disabled).toMatchObject({ name: vault.name, description: 'before', enabled: false, revision: 2 });
    const { vault: same } = await update(vaultId, { enabled: false }, administrator);
    expect(same).toEqual(disabled);
  });

  it('refuses a change or deletion at an unexpected revision', async () => {
    const { vaultId } = await system.createVault();
    const stale = { vaultId, ifRevisions: { revisions: [7] } };
    expect(await refusalOf(update(vaultId, { ...stale, enabled: false }))).toBe('VERSION_CONFLICT');
    expect(await refusalOf(system.edge.deleteVault(stale, administrator))).toBe('VERSION_CONFLICT');
    const current = { vaultId, ifRevisions: { revisions: [7, 1] } };
    expect(await refusalOf(system.edge.deleteVault(current, administrator))).toBe('OK');
    expect(await refusalOf(system.edge.getVault({ vaultId }, administrator))).toBe('VAULT_NOT_FOUND');
  });

  it('lists vaults by page, newest first, and filters them by text and kind', async () => {
    const mark = `list ${transport}`;
    const first = await system.createVault({ name: `${mark} 100%_first` });
    const second = await system.createVault({ description: mark });
    const list = (members: object, page?: { limit: number; cursor: string }) =>
      system.edge.listVaults({ q: mark, kind: '', page, ...members }, administrator);
    const start = await list({}, { limit: 1, cursor: '' });
    expect(idsOf(start)).toEqual([second.vaultId]);
    const cursor = start.page?.nextCursor ?? '';
    const rest = await list({}, { limit: 1, cursor });
    expect(idsOf(rest)).toEqual([first.vaultId]);
    expect(rest.page?.nextCursor).toBe('');
    expect(idsOf(await list({ q: '0%_f' }))).toEqual([first.vaultId]);
    expect(idsOf(await list({ q: first.vaultId }))).toEqual([first.vaultId]);
    expect(idsOf(await list({ kind: 'personal' }))).toEqual([]);
    expect(idsOf(await list({ kind: 'shared' }))).toEqual([second.vaultId, first.vaultId]);
    expect(await refusalOf(list({ q: 'other' }, { limit: 1, cursor }))).toBe('INVALID_CURSOR');
    const byOther = system.edge.listVaults(
      { q: mark, kind: '', page: { limit: 1, cursor } },
      otherAdministrator,
    );
    expect(await refusalOf(byOther)).toBe('INVALID_CURSOR');
    expect(await refusalOf(list({ kind: 'secret' }))).toBe('INVALID_REQUEST /kind');
    expect(await refusalOf(list({}, { limit: 101, cursor: '' }))).toBe('INVALID_REQUEST /limit');
  });

  it('lets administrators disable and delete a personal vault, and not name it', async () => {
    const vaultId = `vlt_${transport === 'in process' ? 'A' : 'B'}${'0'.repeat(25)}`;
    const owner = `usr_${transport === 'in process' ? 'A' : 'B'}${'0'.repeat(25)}`;
    await runOn(
      system.databaseUrl,
      `insert into vaults.vaults (vault_id, kind, owner_id, name, description, enabled, created_by, created_at, updated_at)
       values ('${vaultId}', 'personal', '${owner}', '', '', true, '${owner}', now(), now())`,
    );
    const { vaults } = await system.edge.listVaults(
      { q: '', kind: 'personal', page: undefined },
      administrator,
    );
    expect(vaults).toEqual([expect.objectContaining({ vaultId, kind: 'personal', ownerId: owner })]);
    expect(await refusalOf(update(vaultId, { name: 'Mine' }, administrator))).toBe('INVALID_REQUEST /name');
    const { vault } = await update(vaultId, { enabled: false }, administrator);
    expect(vault).toMatchObject({ enabled: false });
    await remove(vaultId, administrator);
  });

  it('treats an unknown and a malformed id alike', async () => {
    for (const vaultId of [UNKNOWN_VAULT, 'vlt_1', '', 'agt_01M7XYC91CC5TE06JQWDWRTJVA', "';--"]) {
      for (const call of [
        () => system.edge.getVault({ vaultId }, administrator),
        () => update(vaultId, { enabled: false }),
        () => remove(vaultId),
      ])
        expect(await refusalOf(call())).toBe('VAULT_NOT_FOUND');
    }
  });

  it('is for administrators only', async () => {
    const { vaultId } = await system.createVault();
    for (const call of [
      () => system.edge.createVault(vaultRequest(), member),
      () => system.edge.listVaults({ q: '', kind: '', page: undefined }, member),
      () => system.edge.getVault({ vaultId }, member),
      () => update(vaultId, { enabled: false }, member),
      () => remove(vaultId, member),
    ])
      expect(await refusalOf(call())).toBe('FORBIDDEN');
    expect(await refusalOf(system.edge.getVault({ vaultId }))).toBe('UNAUTHENTICATED');
  });

  it('records each change before it is made, and refuses a change that cannot be recorded', async () => {
    const { vaultId } = await system.createVault();
    system.auditLog.takeActs();
    await update(vaultId, { enabled: false }, administrator);
    await remove(vaultId, administrator);
    const { userId } = administrator.caller;
    expect(system.auditLog.takeActs()).toEqual([
      `${userId} vault.update ${vaultId}`,
      `${userId} vault.delete ${vaultId}`,
    ]);
    const kept = await system.createVault();
    system.auditLog.failsToRecord = true;
    try {
      const changes = [
        () => system.edge.createVault(vaultRequest({ name: `unrecorded ${transport}` }), administrator),
        () => update(kept.vaultId, { enabled: false }, administrator),
        () => remove(kept.vaultId, administrator),
      ];
      for (const change of changes) expect(await refusalOf(change())).toBe('DEPENDENCY_UNAVAILABLE');
    } finally {
      system.auditLog.failsToRecord = false;
    }
    const { vault } = await system.edge.getVault({ vaultId: kept.vaultId }, administrator);
    expect(vault).toEqual(kept);
    const { vaults } = await system.edge.listVaults(
      { q: 'unrecorded', kind: '', page: undefined },
      administrator,
    );
    expect(vaults).toEqual([]);
  });
});
