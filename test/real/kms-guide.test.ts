import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { createDatabase } from '../support/database.ts';
import { cleanUpInstallations, createInstallation } from '../support/installations.ts';
import { startFileKms } from '../support/kms/plugin-process.ts';
import type { Program } from '../support/program.ts';
import { shellBlocks } from '../support/shell-blocks.ts';

const page = await readFile(new URL('../../docs/how-to/kms.md', import.meta.url), 'utf8');
const [start = '', rotate = ''] = shellBlocks(page).map(({ text }) => text);
const [, statement = ''] = /^```sql\n(.*?)^```$/ms.exec(page) ?? [];
const [, variable = '', documentedSocket = ''] = /^(\w+)=(\S+) npm start$/m.exec(start) ?? [];

cleanUpInstallations();

const dataOf = ({ data }: { data?: unknown }) => data as Record<string, string>;

async function stop(program: Program): Promise<void> {
  program.kill('SIGTERM');
  expect(await program.exited, program.output()).toBe(0);
}

describe('docs/how-to/kms.md', () => {
  it('moves the data keys to a KMS, and describes what happens when it fails', async () => {
    expect([variable, documentedSocket]).toEqual(['SERVICE_KMS_SOCKET', '/run/kms/kms.sock']);
    await using database = await createDatabase();
    await using plugin = await startFileKms();
    const installation = await createInstallation();
    const { api } = installation;
    const local = { SERVICE_DATABASE_URL: database.url };
    const withKms = { ...local, [variable]: plugin.socket };

    const before = await installation.start(local);
    const { body: vault } = await api.post('/admin/vaults', { name: 'Keys' });
    const vaultPath = `/admin/vaults/${dataOf(vault).vault_id}`;
    const secret = { type: 'bearer', host: 'api.example.com', token: 'canary-of-a-bearer-token' };
    const { body: credential } = await api.post(`${vaultPath}/credentials`, secret);
    const { credential_id: id } = dataOf(credential);
    const readiness = async () => (await fetch(`${api.origin}/readyz`)).json();
    const test = () => api.post(`${vaultPath}/credentials/${id}/test`);
    await stop(before);

    const moving = await installation.start(withKms);
    expect((await test()).body.data).toMatchObject({ status: 'unknown' });
    expect(await readiness()).not.toMatchObject({ data: { status: 'degraded' } });
    const script = `set -euo pipefail\nTOKEN=\n${rotate.replaceAll('http://127.0.0.1:8080', api.origin)}`;
    await promisify(execFile)('bash', ['-c', script], { timeout: 30_000 });
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    expect((await client.query(statement)).rows).toEqual([{ kek_id: 'kms:file-key-1', count: '1' }]);
    await client.end();
    await stop(moving);

    await plugin.kill();
    const sealed = await installation.start(withKms);
    expect(await test()).toMatchObject({ status: 503, body: { code: 'VAULT_SEALED' } });
    expect((await api.get('/agents')).status).toBe(200);
    expect(await readiness()).toMatchObject({ data: { status: 'degraded' } });
    await plugin.start();
    await expect.poll(async () => (await test()).status, { timeout: 10_000 }).toBe(200);
    await stop(sealed);

    const refused = installation.run(local);
    expect(await refused.exited).toBe(1);
    expect(refused.output()).toContain('kms:file-key-1');
  });
});
