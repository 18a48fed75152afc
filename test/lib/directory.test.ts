import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { DirectoryProblem, lockDirectory } from '../../lib/directory.ts';
import { asUnprivilegedUser, UNPRIVILEGED_UID } from '../support/unprivileged-user.ts';

const root = mkdtempSync(join(tmpdir(), 'directory-'));
chmodSync(root, 0o711);
const fresh = () => mkdtempSync(join(root, 'd-'));
const holders: ChildProcess[] = [];

afterEach(async () => {
  for (const child of holders.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A process that tries to lock the directory, prints the result and keeps running. */
async function holder(path: string, prefix: string[] = []): Promise<{ child: ChildProcess; output: string }> {
  const program = `
    import { lockDirectory } from ${JSON.stringify(join(import.meta.dirname, '../../lib/directory.ts'))};
    const output = await lockDirectory(${JSON.stringify(path)}).then(() => 'held', (error) => error.message);
    console.log(output);
    process.stdin.resume();`;
  const [command = '', ...args] = [...prefix, process.execPath, '--input-type=module', '-e', program];
  const child = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  holders.push(child);
  const [output] = await once(child.stdout, 'data');
  return { child, output: String(output).trim() };
}

describe('lockDirectory', () => {
  it('creates the directory with access only for its user', async () => {
    const path = join(fresh(), 'a', 'b');
    await using lock = await lockDirectory(path);
    expect(lock.path).toBe(path);
    expect(statSync(path).mode & 0o777).toBe(0o700);
    expect(statSync(join(path, 'lock')).mode & 0o777).toBe(0o600);
  });

  it('refuses a second process and names the holder and the time of its lock', async () => {
    const path = fresh();
    const { child } = await holder(path);
    const holding = lockDirectory(path);
    await expect(holding).rejects.toThrow(
      new RegExp(`^${path} is in use by process ${child.pid} since \\d{4}-\\d\\d-\\d\\dT\\S+Z$`),
    );
    await expect(holding).rejects.toBeInstanceOf(DirectoryProblem);
    await expect(holding).rejects.toMatchObject({ path, fix: expect.stringContaining('stop that process') });
  });

  it('refuses a second lock in the same process, also under another path', async () => {
    const path = fresh();
    const alias = join(root, 'alias');
    symlinkSync(path, alias);
    await using _held = await lockDirectory(path);
    await expect(lockDirectory(alias)).rejects.toThrow(`in use by process ${process.pid}`);
    expect((await holder(path)).output).toContain(`in use by process ${process.pid}`);
  });

  it('locks again after a release', async () => {
    const path = fresh();
    const first = await lockDirectory(path);
    await first.release();
    await using _second = await lockDirectory(path);
    await first.release();
    expect((await holder(path)).output).toContain('in use by');
  });

  it('locks immediately when the previous holder was killed', async () => {
    const path = fresh();
    const { child } = await holder(path);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await using lock = await lockDirectory(path);
    expect(lock.path).toBe(path);
  });

  it('ignores a note that names a running process without a lock', async () => {
    const path = fresh();
    writeFileSync(join(path, 'lock'), '');
    writeFileSync(join(path, 'lock.holder'), JSON.stringify({ pid: process.pid, since: '2026-01-01' }));
    await using lock = await lockDirectory(path);
    expect(lock.path).toBe(path);
  });

  it('gives the lock of a killed holder to exactly one of several processes', async () => {
    const path = fresh();
    const { child } = await holder(path);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const takers = await Promise.all(Array.from({ length: 6 }, () => holder(path)));
    expect(takers.filter(({ output }) => output === 'held')).toHaveLength(1);
  });

  it('reports a path that is not a directory', async () => {
    const path = join(fresh(), 'file');
    writeFileSync(path, '');
    for (const wrong of [path, join(path, 'below')]) {
      const holding = lockDirectory(wrong);
      await expect(holding).rejects.toThrow(`${wrong} is not a directory`);
      await expect(holding).rejects.toMatchObject({
        path: wrong,
        expected: expect.stringContaining('local disk'),
      });
    }
  });

  it('reports a directory without read and write permission', async () => {
    const path = fresh();
    const prefix = asUnprivilegedUser(UNPRIVILEGED_UID, path);
    chmodSync(path, 0o500);
    expect((await holder(path, prefix)).output).toBe(`${path} cannot be read and written by this user`);
  });
});
