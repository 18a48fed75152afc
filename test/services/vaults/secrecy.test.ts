import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Credential } from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { rowsOn, runOn } from '../../support/sql.ts';
import { until } from '../../support/wait.ts';
import { administrator, openVaultsSystem, refusalOf, type VaultsSystem } from './system.ts';

/** A secret that occurs nowhere else. */
const canary = (name: string) => `canary-${name}-8b1f0c2d9e47`;

const CANARIES = {
  token: canary('token'),
  value: canary('value'),
  password: canary('password'),
  variable: canary('variable'),
  key: canary('key'),
  changed: canary('changed'),
  refused: canary('refused'),
};

/** The forms in which a secret could be readable. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const base64 = [0, 1, 2].map((offset) => Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64'));
  return [
    secret,
    bytes.toString('hex'),
    encodeURIComponent(secret).replaceAll('-', '%2D'),
    // Without the characters that the neighbours determine.
    ...base64.map((text) => text.slice(4, -4)),
  ];
}

describe('secrets of credentials', () => {
  let system: VaultsSystem;
  const made: Credential[] = [];
  const answers: unknown[] = [];

  beforeAll(async () => {
    system = await openVaultsSystem('call streams');
    const { vaultId } = await system.createVault();
    const create = async (members: object, secrets: Record<string, string>) => {
      const answer = await system.createCredential({ vaultId, ...members }, secrets);
      answers.push(answer);
      made.push(answer.credential!);
    };
    const inject = { headers: ['authorization'], basic: true, query: [] };
    const variable = { name: 'TOKEN', inject, methods: [], pathPrefixes: [], placeholderPrefix: '' };
    await create({ idempotencyKey: 'one' }, { token: CANARIES.token });
    await create(
      { type: 'header', public: { of: { $case: 'header', value: { name: 'X-Key' } } } },
      { value: CANARIES.value },
    );
    await create(
      { type: 'basic', public: { of: { $case: 'basic', value: { username: 'u' } } } },
      { password: CANARIES.password },
    );
    await create(
      {
        type: 'environment_variable',
        host: undefined,
        allowedHosts: ['a.example.org'],
        public: { of: { $case: 'environmentVariable', value: variable } },
      },
      { value: CANARIES.variable },
    );
    await create(
      {
        type: 'model_key',
        host: undefined,
        public: { of: { $case: 'modelKey', value: { provider: 'openai' } } },
      },
      { key: CANARIES.key },
    );
    answers.push(await system.updateCredential(made[0]!, {}, { token: CANARIES.changed }));
    const refused = system.updateCredential(made[0]!, {}, { token: `${CANARIES.refused}\n` });
    answers.push(await refused.catch((error: Error) => [error.message, error.stack, JSON.stringify(error)]));
    for (const credential of made) expect(await system.test(credential)).toBe('unknown');
    answers.push(await system.edge.listCredentials({ vaultId, page: undefined }, administrator));
    const { rotation } = await system.edge.beginRotation({ vaultId }, administrator);
    const { rotationId = '' } = rotation ?? {};
    await until('the rotation has ended', async () => {
      const answer = await system.edge.getRotation({ rotationId }, administrator);
      return answer.rotation?.status === 'done';
    });
  });
  afterAll(() => system?.[Symbol.asyncDispose]());

  it('are in no answer, error, log line or audit entry', () => {
    const seen = JSON.stringify([answers, system.lines, system.auditLog.acts]);
    for (const secret of Object.values(CANARIES))
      for (const form of formsOf(secret)) expect(seen).not.toContain(form);
  });

  it('are readable in no table of the database', async () => {
    const tables = await rowsOn<{ name: string }>(
      system.databaseUrl,
      `select relname::text as name from pg_class where relnamespace = 'vaults'::regnamespace and relkind = 'r'`,
    );
    expect(tables.map(({ name }) => name)).toContain('idempotency_keys');
    for (const { name } of tables) {
      const rows = await rowsOn<Record<string, unknown>>(system.databaseUrl, `select * from vaults.${name}`);
      const columns = rows.flatMap((row) => Object.values(row));
      const texts = columns.map((value) =>
        Buffer.isBuffer(value) ? value.toString('latin1') : JSON.stringify(value),
      );
      for (const secret of Object.values(CANARIES))
        for (const form of formsOf(secret)) expect(texts.some((text) => text?.includes(form))).toBe(false);
    }
  });

  it('do not open in the row of another credential or vault, and the others still open', async () => {
    const [first, second] = [made[1]!, made[2]!];
    const other = await system.createToken((await system.createVault()).vaultId);
    const swap = `with a as (select * from vaults.credentials where credential_id = '${first.credentialId}'),
        b as (select * from vaults.credentials where credential_id = '${second.credentialId}')
      update vaults.credentials c set sealed = case when c.credential_id = '${first.credentialId}'
        then (select sealed from b) else (select sealed from a) end
      where c.credential_id in ('${first.credentialId}', '${second.credentialId}')`;
    await runOn(system.databaseUrl, swap);
    expect(await system.test(first)).toBe('VAULT_SEALED');
    expect(await system.test(second)).toBe('VAULT_SEALED');
    expect(await system.test(made[0]!)).toBe('unknown');
    await runOn(system.databaseUrl, swap);
    expect(await system.test(first)).toBe('unknown');
    await runOn(
      system.databaseUrl,
      `update vaults.credentials set sealed = (select sealed from vaults.credentials where credential_id = '${first.credentialId}')
       where credential_id = '${other.credentialId}'`,
    );
    expect(await system.test(other)).toBe('VAULT_SEALED');
    await runOn(
      system.databaseUrl,
      `update vaults.credentials set generation = generation + 1 where credential_id = '${second.credentialId}'`,
    );
    expect(await system.test(second)).toBe('VAULT_SEALED');
  });

  it('stay sealed for the vault whose data key was exchanged, and other vaults work', async () => {
    const [one, two] = [await system.createVault(), await system.createVault()];
    const [broken, intact] = [await system.createToken(one.vaultId), await system.createToken(two.vaultId)];
    await runOn(
      system.databaseUrl,
      `update vaults.data_keys set wrapped = (select wrapped from vaults.data_keys where vault_id = '${two.vaultId}')
       where vault_id = '${one.vaultId}'`,
    );
    expect(await system.test(broken)).toBe('VAULT_SEALED');
    const create = system.createCredential({ vaultId: one.vaultId }, { token: 't' });
    expect(await refusalOf(create)).toBe('VAULT_SEALED');
    expect(await system.test(intact)).toBe('unknown');
  });
});
