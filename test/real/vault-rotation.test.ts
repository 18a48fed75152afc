import { describe, expect, it } from 'vitest';
import type { Credential } from '../../proto/gen/ahs/vaults/v1/vaults.ts';
import { openVaultsSystem, SEALING_KEY } from '../services/vaults/system.ts';
import { createDatabase } from '../support/database.ts';
import { freePort } from '../support/port.ts';
import { type Program, runProgram } from '../support/program.ts';
import { rowsOn, runOn } from '../support/sql.ts';
import { planTargets } from '../support/targets.ts';
import { until } from '../support/wait.ts';

const CREDENTIALS = 150;
const ROTATION = 'rot_01M7XYC91CC5TE06JQWDWRTJVA';

interface Progress {
  status: string;
  done: string;
  total: string;
}

describe('the program with the target vaults', () => {
  it('continues a rotation after it was killed in the middle, and every secret opens', async () => {
    await using database = await createDatabase();
    await using stack = new AsyncDisposableStack();
    const { url } = database;
    const credentials: Credential[] = [];
    {
      await using system = await openVaultsSystem('in process', { databaseUrl: url });
      const { vaultId } = await system.createVault();
      for (let index = 0; index < CREDENTIALS; index++) credentials.push(await system.createToken(vaultId));
      await runOn(
        url,
        `insert into vaults.rotations (rotation_id, vault_id, status, total, from_kek, to_kek, worker, heartbeat_at, started_by, started_at)
         values ('${ROTATION}', '${vaultId}', 'running', ${CREDENTIALS}, '', '', 'an ended instance', '-infinity', '', now())`,
      );
    }
    const { settings } = await planTargets({
      SERVICE_SECRET: 'the shared secret of all services under test',
      SERVICE_SEALING_KEY: SEALING_KEY,
      SERVICE_DATABASE_URL: url,
      SERVICE_REDIS_URL: `redis://127.0.0.1:${await freePort()}`,
      SERVICE_LOG_LEVEL: 'silent',
    });
    const start = async (): Promise<Program> => {
      const program = runProgram(
        { ...settings.vaults, SERVICE_GRPC_LISTEN: `127.0.0.1:${await freePort()}` },
        ['--target=vaults'],
      );
      stack.defer(async () => {
        program.kill('SIGKILL');
        await program.exited;
      });
      return program;
    };
    const progress = async () => {
      const [row] = await rowsOn<Progress>(url, 'select status, done, total from vaults.rotations');
      return { status: row?.status, done: Number(row?.done), total: Number(row?.total) };
    };
    let killed = 0;
    for (const share of [0.2, 0.5]) {
      const program = await start();
      await until('the rotation has made progress', async () => {
        const { done, status } = await progress();
        return done > share * CREDENTIALS || status !== 'running';
      });
      program.kill('SIGKILL');
      await program.exited;
      if ((await progress()).status === 'running') killed += 1;
      await runOn(
        url,
        `update vaults.rotations set heartbeat_at = now() - interval '1 minute' where status = 'running'`,
      );
    }
    expect(killed).toBeGreaterThan(0);
    // Two instances start together. One of them continues the rotation.
    await Promise.all([start(), start()]);
    await until('the rotation has ended', async () => (await progress()).status !== 'running');
    expect(await progress()).toEqual({ status: 'done', done: CREDENTIALS, total: CREDENTIALS });
    expect(await rowsOn(url, 'select generation from vaults.data_keys')).toEqual([{ generation: 2 }]);
    await using later = await openVaultsSystem('in process', { databaseUrl: url });
    for (const credential of credentials) expect(await later.test(credential)).toBe('unknown');
  });
});
