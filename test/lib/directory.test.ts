import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { DirectoryProblem, holdDirectory } from '../../lib/directory.ts';
import { NOBODY, ordinaryUser } from '../support/ordinary.ts';

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

/** A process that tries to hold the directory, says how that went, and then lives on. */
async function holder(path: string, prefix: string[] = []): Promise<{ child: ChildProcess; said: string }> {
  const program = `
    import { holdDirectory } from ${JSON.stringify(join(import.meta.dirname, '../../lib/directory.ts'))};
    const said = await holdDirectory(${JSON.stringify(path)}).then(() => 'held', (error) => error.message);
    console.log(said);
    process.stdin.resume();`;
  const [command = '', ...args] = [...prefix, process.execPath, '--input-type=module', '-e', program];
  const child = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  holders.push(child);
  const [said] = await once(child.stdout, 'data');
  return { child, said: String(said).trim() };
}

describe('holdDirectory', () => {
  it('makes the directory for its user alone', async () => {
    const path = join(fresh(), 'a', 'b');
    await using held = await holdDirectory(path);
    expect(held.path).toBe(path);
    expect(statSync(path).mode & 0o777).toBe(0o700);
    expect(statSync(join(path, 'lock')).mode & 0o777).toBe(0o600);
  });

  it('refuses a second holder and says which process holds it since when', async () => {
    const path = fresh();
    const { child } = await holder(path);
    const holding = holdDirectory(path);
    await expect(holding).rejects.toThrow(
      new RegExp(`^${path} is in use by process ${child.pid} since \\d{4}-\\d\\d-\\d\\dT\\S+Z$`),
    );
    await expect(holding).rejects.toBeInstanceOf(DirectoryProblem);
    await expect(holding).rejects.toMatchObject({ path, fix: expect.stringContaining('stop that process') });
  });

  it('refuses a second holder in the same process, under another path too', async () => {
    const path = fresh();
    const alias = join(root, 'alias');
    symlinkSync(path, alias);
    await using _held = await holdDirectory(path);
    await expect(holdDirectory(alias)).rejects.toThrow(`in use by process ${process.pid}`);
    expect((await holder(path)).said).toContain(`in use by process ${process.pid}`);
  });

  it('can be held again after its release', async () => {
    const path = fresh();
    const first = await holdDirectory(path);
    await first.release();
    await using _second = await holdDirectory(path);
    await first.release();
    expect((await holder(path)).said).toContain('in use by');
  });

  it('is free at once when its holder was killed', async () => {
    const path = fresh();
    const { child } = await holder(path);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await using held = await holdDirectory(path);
    expect(held.path).toBe(path);
  });

  it('is not held by a note about a process that lives but never held it', async () => {
    const path = fresh();
    writeFileSync(join(path, 'lock'), '');
    writeFileSync(join(path, 'lock.holder'), JSON.stringify({ pid: process.pid, since: '2026-01-01' }));
    await using held = await holdDirectory(path);
    expect(held.path).toBe(path);
  });

  it('goes to exactly one of many takers when its holder was killed', async () => {
    const path = fresh();
    const { child } = await holder(path);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const takers = await Promise.all(Array.from({ length: 6 }, () => holder(path)));
    expect(takers.filter(({ said }) => said === 'held')).toHaveLength(1);
  });

  it('says what is wrong with a path that is no directory', async () => {
    const path = join(fresh(), 'file');
    writeFileSync(path, '');
    for (const wrong of [path, join(path, 'below')]) {
      const holding = holdDirectory(wrong);
      await expect(holding).rejects.toThrow(`${wrong} is not a directory`);
      await expect(holding).rejects.toMatchObject({
        path: wrong,
        expected: expect.stringContaining('local disk'),
      });
    }
  });

  it('says when the directory cannot be read and written', async () => {
    const path = fresh();
    const prefix = ordinaryUser(NOBODY, path);
    chmodSync(path, 0o500);
    expect((await holder(path, prefix)).said).toBe(`${path} cannot be read and written by this user`);
  });
});
