import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCredentialStore } from '../../../services/vaults/store/credentials.ts';
import { createVaultStore } from '../../../services/vaults/store/vaults.ts';
import {
  ALICE,
  BOB,
  openRowLevelSecurity,
  type RowLevelSecurityFixture,
  undeclaredStatement,
} from '../../support/row-level-security.ts';
import { runOn } from '../../support/sql.ts';

const SHARED = 'vlt_0000000000000000000000000S';
const ALICES = 'vlt_0000000000000000000000000A';
const BOBS = 'vlt_0000000000000000000000000B';
const credentialOf = (vaultId: string) => vaultId.replace('vlt', 'crd');

const vault = (vaultId: string, kind: string, owner: string) => `
  insert into vaults (vault_id, kind, owner_id, name, description, enabled, created_by, created_at, updated_at)
    values ('${vaultId}', '${kind}', nullif('${owner}', ''), '', '', true, '', now(), now());
  insert into data_keys (vault_id, generation, wrapped, kek_id, created_at) values ('${vaultId}', 1, 'w', 'local:1', now());
  insert into credentials (credential_id, vault_id, type, label, enabled, hosts, public, sealed, key_generation, fingerprint,
      last_four, status, created_by, created_at, updated_at)
    values ('${credentialOf(vaultId)}', '${vaultId}', 'bearer', '', true, '{}', '{}', 's', 1, '', '', 'active', '', now(), now());`;

describe('row-level security of the vaults schema', () => {
  let fixture: RowLevelSecurityFixture;
  beforeAll(async () => {
    fixture = await openRowLevelSecurity('vaults');
    await runOn(
      fixture.url,
      `set search_path = vaults;
       ${vault(SHARED, 'shared', '')} ${vault(ALICES, 'personal', ALICE)} ${vault(BOBS, 'personal', BOB)}
       insert into assignment_lists values ('agent', 'agt_1', 1);
       insert into assignments values ('agent', 'agt_1', 1, '${SHARED}');
       insert into rotations (rotation_id, vault_id, status, total, from_kek, to_kek, worker, heartbeat_at, started_by, started_at)
         values ('rot_1', '', 'running', 0, '', '', '', now(), '', now());
       insert into lendings values ('trn_1', '${credentialOf(BOBS)}', 'a.example', now());
       insert into idempotency_keys (caller, key, fingerprint, answer, created_at) values ('${BOB}', 'k', '', '', now());`,
    );
  });
  afterAll(() => fixture?.[Symbol.asyncDispose]());

  const asBob = { viewer: { userId: BOB } };
  const select = (text: string) => fixture.db.rows<object>(undeclaredStatement(text), [], asBob);
  const change = (text: string) => fixture.db.change(undeclaredStatement(text), [], asBob);

  it('has policies for all tables', async () => {
    expect(await fixture.tablesWithoutPolicies()).toEqual([]);
  });

  it('lets a user read vaults and credentials, and no other table', async () => {
    expect(await fixture.readableTables()).toEqual(['credentials', 'vaults']);
    const hidden = [
      'data_keys',
      'assignments',
      'assignment_lists',
      'lendings',
      'rotations',
      'idempotency_keys',
    ];
    for (const table of hidden) expect(await fixture.rowsVisibleTo(table, BOB)).toBeUndefined();
  });

  it('shows a user only the own personal vault and its credentials', async () => {
    expect(await select('select vault_id from vaults')).toEqual([{ vault_id: BOBS }]);
    expect(await select('select credential_id from credentials')).toEqual([
      { credential_id: credentialOf(BOBS) },
    ]);
    expect(await fixture.rowsVisibleWithoutUser('vaults')).toEqual([]);
  });

  it('keeps the sealed secrets from a user, also those of the own credentials', async () => {
    expect(await fixture.rowsVisibleTo('credentials', BOB)).toBeUndefined();
    for (const column of ['sealed', 'key_generation'])
      await expect(select(`select ${column} from credentials`)).rejects.toThrow('permission denied');
    await expect(select('select wrapped from data_keys')).rejects.toThrow('permission denied');
  });

  it('prevents reads and changes of other vaults through the stores of the service', async () => {
    const vaults = createVaultStore(fixture.db);
    const credentials = createCredentialStore(fixture.db);
    for (const vaultId of [SHARED, ALICES]) {
      const address = { vaultId, credentialId: credentialOf(vaultId) };
      await expect(credentials.secret(address, asBob)).rejects.toThrow('permission denied');
      expect(await credentials.credential(address, asBob)).toBeUndefined();
    }
    const { rows } = await vaults
      .list(BOB, { q: '', kind: '' }, { limit: 10, cursor: '' }, asBob)
      .catch(() => ({
        rows: [],
      }));
    expect(rows).toEqual([]);
    for (const text of [
      'update vaults set enabled = false',
      'delete from vaults',
      `update credentials set label = 'x'`,
      'delete from credentials',
      `insert into vaults select * from vaults`,
    ])
      await expect(change(text)).rejects.toThrow('permission denied');
  });
});
