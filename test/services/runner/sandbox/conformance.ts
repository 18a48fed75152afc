import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROVIDERS } from '../../../../lib/sandboxes.ts';
import type { SandboxProvider } from '../../../../services/runner/sandbox/sandbox.ts';
import type { TreeIndex } from '../../../../services/runner/sandbox/workspace-tree.ts';
import { ids, runScript, SandboxFixture, sandboxSpec, workspaceIdOf } from './run-script.ts';
import { defineSkillConformance } from './skill-conformance.ts';
import { bytes, PLAIN, readText } from './workspace-fixture.ts';

export interface ProviderFixture {
  provider: SandboxProvider;
  /** The path of the provider's SandboxRoot. */
  root: string;
  /** The directory with the copies of skills. */
  skills: string;
  /** Opens a provider with the same directory, as a restarted runner does. */
  reopen(): Promise<SandboxProvider>;
  close(): Promise<void>;
}

/** Defines the tests that every provider must pass. */
export function describeConformance(name: string, open: () => Promise<ProviderFixture>): void {
  describe(name, () => {
    let fixture: ProviderFixture;
    beforeAll(async () => {
      fixture = await open();
    });
    afterAll(() => fixture?.close());
    const openSandboxes = () => new SandboxFixture(fixture.provider);

    it('returns the exit code and the output of a script', async () => {
      await using sandboxes = openSandboxes();
      const sandbox = await sandboxes.create();
      expect(sandbox.provider).toBe(fixture.provider.name);
      expect(await runScript(sandbox, 'echo out; echo err >&2; x=$(echo in); echo "$x"')).toEqual({
        stdout: 'out\nin\n',
        stderr: 'err\n',
        end: { exitCode: 0 },
      });
      expect((await runScript(sandbox, 'exit 7')).end).toEqual({ exitCode: 7 });
      expect((await runScript(sandbox, 'no-such-command')).end).toEqual({ exitCode: 127 });
      expect((await runScript(sandbox, 'if then')).end.exitCode).not.toBe(0);
      expect((await runScript(sandbox, '')).end).toEqual({ exitCode: 0 });
    });

    it('runs commands in the workspace as a non-root user, with a home directory and no variables of the runner', async () => {
      await using sandboxes = openSandboxes();
      const sandbox = await sandboxes.create({
        variables: { GREETING: 'hello "world"\n$HOME', BOTH: 'sandbox' },
      });
      const { stdout } = await runScript(
        sandbox,
        'pwd; echo ~; echo "$GREETING"; echo $BOTH; echo $PATH; whoami',
        {
          variables: { BOTH: 'command' },
        },
      );
      const [directory, home, first, second, both, path, user] = stdout.split('\n');
      expect([directory, home, both]).toEqual(['/workspace', '/home/agent', 'command']);
      expect(`${first}\n${second}`).toBe('hello "world"\n$HOME');
      expect(user).not.toBe('root');
      expect(path).not.toContain('node_modules');
    });

    it('passes the standard input to the command', async () => {
      await using sandboxes = openSandboxes();
      const sandbox = await sandboxes.create();
      const stdin = Buffer.from('grüße\n'.repeat(20_000));
      expect((await runScript(sandbox, 'cat', { stdin })).stdout).toBe(stdin.toString());
      expect(await runScript(sandbox, 'cat; echo end')).toMatchObject({
        stdout: 'end\n',
        end: { exitCode: 0 },
      });
      // A command need not read its input.
      expect((await runScript(sandbox, 'echo done', { stdin })).stdout).toBe('done\n');
    });

    it('exchanges workspace files with commands in both directions', async () => {
      await using sandboxes = openSandboxes();
      const sandbox = await sandboxes.create();
      const tree = await sandbox.workspace(workspaceIdOf(sandbox));
      await tree.makeDirectory('src');
      await tree.putFile('src/a.txt', bytes('one\n'), PLAIN);
      await tree.putSymlink('link', 'src/a.txt');
      const seen: TreeIndex = new Map();
      await tree.updateIndex(seen);
      expect(
        (await runScript(sandbox, 'cat link; echo two >> src/a.txt; mkdir new; echo x > new/file; rm link'))
          .stdout,
      ).toBe('one\n');
      const { changes } = await tree.scan(seen);
      expect(changes.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
        'remove link',
        'directory new',
        'file new/file',
        'file src/a.txt',
      ]);
      expect(await readText(tree, 'src/a.txt')).toBe('one\ntwo\n');
    });

    it('resolves symbolic links relative to the file system of the sandbox', async () => {
      await using sandboxes = openSandboxes();
      const sandbox = await sandboxes.create();
      const tree = await sandbox.workspace(workspaceIdOf(sandbox));
      await tree.putFile('file', bytes('mine\n'), PLAIN);
      await tree.putSymlink('absolute', '/workspace/file');
      await tree.putSymlink('up', '../workspace/file');
      await tree.putSymlink('loop', 'loop');
      await runScript(sandbox, 'echo temporary > /tmp/file; ln -s /tmp/file across');
      expect((await runScript(sandbox, 'cat absolute up across; cat loop')).stdout).toBe(
        'mine\nmine\ntemporary\n',
      );
      const { changes } = await tree.scan(new Map());
      expect(changes).toContainEqual({ kind: 'symlink', path: 'across', target: '/tmp/file' });
    });

    it('keeps temporary files and the home directory across suspend and resume', async () => {
      await using sandboxes = openSandboxes();
      const sandbox = await sandboxes.create();
      await runScript(sandbox, 'echo tmp > /tmp/file; echo home > ~/file');
      await sandbox.suspend();
      await sandbox.resume();
      expect((await runScript(sandbox, 'cat /tmp/file ~/file')).stdout).toBe('tmp\nhome\n');
    });

    it('runs commands after repeated suspend and resume, with workspaces and variables', async () => {
      await using sandboxes = openSandboxes();
      const sandbox = await sandboxes.create({ variables: { GREETING: 'hello' } });
      await runScript(sandbox, 'echo kept > file');
      for (let times = 0; times < 2; times++) {
        await sandbox.suspend();
        await sandbox.suspend();
        await sandbox.resume();
        const { stdout } = await runScript(sandbox, 'cat file; pwd; echo $GREETING; ls ~ /tmp | grep -v :');
        expect(stdout.trim().split('\n')).toEqual(['kept', '/workspace', 'hello']);
      }
      await sandbox.suspend();
    });

    it('fails writes above the limit for temporary files with ENOSPC', async () => {
      await using sandboxes = openSandboxes();
      const sandbox = await sandboxes.create({ limits: { diskMib: 1 } });
      expect(sandbox.limits.diskMib).toMatchObject({ value: 1, enforcement: 'sandbox' });
      const fill = 'for i in 1 2 3 4; do printf "%0600000d" 1 > /tmp/file$i || exit 9; done';
      const { stderr, end } = await runScript(sandbox, fill);
      expect(end.exitCode).toBeGreaterThan(0);
      expect(stderr).toMatch(/no space left on device/i);
      expect((await runScript(sandbox, 'rm /tmp/*; echo ok > /tmp/file && cat /tmp/file')).stdout).toBe(
        'ok\n',
      );
    });

    it('ends a command at its timeout', async () => {
      await using sandboxes = openSandboxes();
      const sandbox = await sandboxes.create();
      const busy = await runScript(sandbox, 'while true; do :; done', { timeoutMs: 300 });
      expect(busy.end).toMatchObject({ exitCode: null, cause: 'timeout' });
      const asleep = await runScript(sandbox, 'sleep 1000', { timeoutMs: 300 });
      expect(asleep.end).toMatchObject({ exitCode: null, cause: 'timeout' });
      expect((await runScript(sandbox, 'echo alive')).stdout).toBe('alive\n');
    });

    it('ends a command when its signal aborts', async () => {
      await using sandboxes = openSandboxes();
      const sandbox = await sandboxes.create();
      const abort = new AbortController();
      const running = runScript(sandbox, 'echo > begun; while true; do :; done', { signal: abort.signal });
      const tree = await sandbox.workspace(workspaceIdOf(sandbox));
      const countFiles = async () => (await tree.scan(new Map())).changes.length;
      await expect.poll(countFiles, { timeout: 20_000 }).toBe(1);
      abort.abort();
      expect((await running).end).toMatchObject({ exitCode: null, cause: 'stopped' });
      expect((await runScript(sandbox, 'echo', { signal: AbortSignal.abort() })).end).toMatchObject({
        cause: 'stopped',
      });
    });

    it('ends a command whose output exceeds the limit', async () => {
      await using sandboxes = openSandboxes();
      const sandbox = await sandboxes.create();
      const { stdout, stderr, end } = await runScript(sandbox, 'while true; do echo 0123456789; done', {
        maxOutputBytes: 10_000,
      });
      expect(end).toMatchObject({ exitCode: null, cause: 'output' });
      expect(stdout.length + stderr.length).toBeLessThanOrEqual(10_000);
    });

    it('isolates two sandboxes that run commands at the same time', async () => {
      await using sandboxes = openSandboxes();
      const [one, other] = await Promise.all([sandboxes.create(), sandboxes.create()]);
      const script = (text: string) =>
        `echo ${text} > /tmp/mine; echo ${text} > mine; sleep 0.2; cat /tmp/mine mine; ls`;
      const [first, second] = await Promise.all([
        runScript(one, script('one')),
        runScript(other, script('other')),
      ]);
      expect([first.stdout, second.stdout]).toEqual(['one\none\nmine\n', 'other\nother\nmine\n']);
    });

    it('separates workspaces of one sandbox, and shares its temporary files', async () => {
      await using sandboxes = openSandboxes();
      const sandbox = await sandboxes.create();
      const [one, other] = [ids('wsp'), ids('wsp')];
      await runScript(sandbox, 'echo mine > file; echo ours > /tmp/file', { workspaceId: one });
      const { stdout } = await runScript(sandbox, 'ls; cat /tmp/file', { workspaceId: other });
      expect(stdout).toBe('ours\n');
    });

    it('runs fifty commands at the same time', async () => {
      await using sandboxes = openSandboxes();
      const sandbox = await sandboxes.create();
      const all = await Promise.all(
        Array.from({ length: 50 }, (_, i) => runScript(sandbox, `echo ${i}; exit ${i}`)),
      );
      expect(all.map(({ stdout, end }) => [stdout, end.exitCode])).toEqual(
        Array.from({ length: 50 }, (_, i) => [`${i}\n`, i]),
      );
    });

    it('runs a script of 300 KB', async () => {
      await using sandboxes = openSandboxes();
      const sandbox = await sandboxes.create();
      const text = 'x'.repeat(300_000);
      const { stdout, end } = await runScript(sandbox, `cat > file <<'END'\n${text}\nEND\nwc -c < file`);
      expect({ stdout: stdout.trim(), end }).toEqual({ stdout: '300001', end: { exitCode: 0 } });
    });

    it('ends running commands on destroy, and refuses further ones', async () => {
      const sandbox = await fixture.provider.create(sandboxSpec());
      const running = runScript(sandbox, 'while true; do :; done');
      await sandbox.destroy();
      expect((await running).end).toMatchObject({ exitCode: null, cause: 'stopped' });
      await expect(runScript(sandbox, 'echo')).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' });
    });

    it('removes the sandboxes of an earlier process on sweep', async () => {
      await using sandboxes = openSandboxes();
      const created = await Promise.all([sandboxes.create(), sandboxes.create()]);
      for (const sandbox of created) await runScript(sandbox, 'echo text > file');
      const directories = () => readdirSync(fixture.root).filter((name) => name !== '.trash');
      expect(directories().sort()).toEqual(created.map(({ sandboxId }) => sandboxId).sort());
      const next = await fixture.reopen();
      sandboxes.forget();
      fixture.provider = next;
      await next.sweep();
      expect(directories()).toEqual([]);
    });

    defineSkillConformance(() => fixture);

    it('reports limits in accordance with the provider table', async () => {
      await using sandboxes = openSandboxes();
      const sandbox = await sandboxes.create({
        limits: { cpuMillis: 500, memoryMib: 64, pids: 32, diskMib: 16, workspaceMib: 20 },
      });
      const { limits } = PROVIDERS[fixture.provider.name];
      const effective = {
        cpu_millis: sandbox.limits.cpuMillis,
        memory_mib: sandbox.limits.memoryMib,
        pids: sandbox.limits.pids,
        disk_mib: sandbox.limits.diskMib,
        workspace_mib: sandbox.limits.workspaceMib,
      };
      for (const [limit, { value, enforcement }] of Object.entries(effective)) {
        if (!limits.some((one) => one === limit))
          expect({ value, enforcement }).toEqual({ value: null, enforcement: 'none' });
        else if (enforcement !== 'none') expect(value).toBeGreaterThan(0);
      }
    });
  });
}
