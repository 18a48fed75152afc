import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROVIDERS } from '../../../../lib/sandboxes.ts';
import type { SandboxProvider } from '../../../../services/runner/sandbox/sandbox.ts';
import type { TreeIndex } from '../../../../services/runner/sandbox/tree.ts';
import { ids, Sandboxes, sh, specOf, workspaceOf } from './shell.ts';
import { bytes, PLAIN, readText } from './workspace.ts';

export interface Opened {
  provider: SandboxProvider;
  /** What an earlier process of the same runner would leave behind is found by this one. */
  reopen(): Promise<SandboxProvider>;
  close(): Promise<void>;
}

/** What every provider does alike, whatever it is made of. */
export function conforms(name: string, open: () => Promise<Opened>): void {
  describe(name, () => {
    let opened: Opened;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened?.close());
    const begin = () => new Sandboxes(opened.provider);

    it('runs a script and tells how it ended', async () => {
      await using made = begin();
      const sandbox = await made.make();
      expect(sandbox.provider).toBe(opened.provider.name);
      expect(await sh(sandbox, 'echo out; echo err >&2; x=$(echo in); echo "$x"')).toEqual({
        stdout: 'out\nin\n',
        stderr: 'err\n',
        end: { exitCode: 0 },
      });
      expect((await sh(sandbox, 'exit 7')).end).toEqual({ exitCode: 7 });
      expect((await sh(sandbox, 'no-such-command')).end).toEqual({ exitCode: 127 });
      expect((await sh(sandbox, 'if then')).end.exitCode).not.toBe(0);
      expect((await sh(sandbox, '')).end).toEqual({ exitCode: 0 });
    });

    it('begins in the workspace, as somebody who is not root, with a home and nothing of the runner', async () => {
      await using made = begin();
      const sandbox = await made.make({ variables: { GREETING: 'hello "world"\n$HOME', BOTH: 'sandbox' } });
      const { stdout } = await sh(sandbox, 'pwd; echo ~; echo "$GREETING"; echo $BOTH; echo $PATH; whoami', {
        variables: { BOTH: 'command' },
      });
      const [directory, home, first, second, both, path, user] = stdout.split('\n');
      expect([directory, home, both]).toEqual(['/workspace', '/home/agent', 'command']);
      expect(`${first}\n${second}`).toBe('hello "world"\n$HOME');
      expect(user).not.toBe('root');
      expect(path).not.toContain('node_modules');
    });

    it('reads its standard input', async () => {
      await using made = begin();
      const sandbox = await made.make();
      const stdin = Buffer.from('grüße\n'.repeat(20_000));
      expect((await sh(sandbox, 'cat', { stdin })).stdout).toBe(stdin.toString());
      expect(await sh(sandbox, 'cat; echo end')).toMatchObject({ stdout: 'end\n', end: { exitCode: 0 } });
      // Nobody has to read it.
      expect((await sh(sandbox, 'echo done', { stdin })).stdout).toBe('done\n');
    });

    it('has the files of its workspace, in both directions', async () => {
      await using made = begin();
      const sandbox = await made.make();
      const tree = await sandbox.workspace(workspaceOf(sandbox));
      await tree.makeDirectory('src');
      await tree.putFile('src/a.txt', bytes('one\n'), PLAIN);
      await tree.putSymlink('link', 'src/a.txt');
      const seen: TreeIndex = new Map();
      await tree.note(seen);
      expect(
        (await sh(sandbox, 'cat link; echo two >> src/a.txt; mkdir new; echo x > new/file; rm link')).stdout,
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

    it('follows links as they mean it inside', async () => {
      await using made = begin();
      const sandbox = await made.make();
      const tree = await sandbox.workspace(workspaceOf(sandbox));
      await tree.putFile('file', bytes('mine\n'), PLAIN);
      await tree.putSymlink('absolute', '/workspace/file');
      await tree.putSymlink('up', '../workspace/file');
      await tree.putSymlink('loop', 'loop');
      await sh(sandbox, 'echo temporary > /tmp/file; ln -s /tmp/file across');
      expect((await sh(sandbox, 'cat absolute up across; cat loop')).stdout).toBe('mine\nmine\ntemporary\n');
      const { changes } = await tree.scan(new Map());
      expect(changes).toContainEqual({ kind: 'symlink', path: 'across', target: '/tmp/file' });
    });

    it('keeps temporary files and its home as long as it is there', async () => {
      await using made = begin();
      const sandbox = await made.make();
      await sh(sandbox, 'echo tmp > /tmp/file; echo home > ~/file');
      await sandbox.suspend();
      await sandbox.resume();
      expect((await sh(sandbox, 'cat /tmp/file ~/file')).stdout).toBe('tmp\nhome\n');
    });

    it('goes on after it was suspended, with its workspaces', async () => {
      await using made = begin();
      const sandbox = await made.make({ variables: { GREETING: 'hello' } });
      await sh(sandbox, 'echo kept > file');
      for (let times = 0; times < 2; times++) {
        await sandbox.suspend();
        await sandbox.suspend();
        await sandbox.resume();
        const { stdout } = await sh(sandbox, 'cat file; pwd; echo $GREETING; ls ~ /tmp | grep -v :');
        expect(stdout.trim().split('\n')).toEqual(['kept', '/workspace', 'hello']);
      }
      await sandbox.suspend();
    });

    it('has a limit for temporary files, which is an error of the command', async () => {
      await using made = begin();
      const sandbox = await made.make({ limits: { diskMib: 1 } });
      expect(sandbox.limits.diskMib).toEqual({ value: 1, enforcement: 'sandbox' });
      const fill = 'for i in 1 2 3 4; do printf "%0600000d" 1 > /tmp/file$i || exit 9; done';
      const { stderr, end } = await sh(sandbox, fill);
      expect(end.exitCode).toBeGreaterThan(0);
      expect(stderr).toMatch(/no space left on device/i);
      expect((await sh(sandbox, 'rm /tmp/*; echo ok > /tmp/file && cat /tmp/file')).stdout).toBe('ok\n');
    });

    it('ends a command whose time is up', async () => {
      await using made = begin();
      const sandbox = await made.make();
      const busy = await sh(sandbox, 'while true; do :; done', { timeoutMs: 300 });
      expect(busy.end).toMatchObject({ exitCode: null, cause: 'timeout' });
      const asleep = await sh(sandbox, 'sleep 1000', { timeoutMs: 300 });
      expect(asleep.end).toMatchObject({ exitCode: null, cause: 'timeout' });
      expect((await sh(sandbox, 'echo alive')).stdout).toBe('alive\n');
    });

    it('ends a command that nobody wants any more', async () => {
      await using made = begin();
      const sandbox = await made.make();
      const stop = new AbortController();
      const running = sh(sandbox, 'echo > begun; while true; do :; done', { signal: stop.signal });
      const tree = await sandbox.workspace(workspaceOf(sandbox));
      await expect.poll(async () => (await tree.scan(new Map())).changes.length).toBe(1);
      stop.abort();
      expect((await running).end).toMatchObject({ exitCode: null, cause: 'stopped' });
      expect((await sh(sandbox, 'echo', { signal: AbortSignal.abort() })).end).toMatchObject({
        cause: 'stopped',
      });
    });

    it('ends a command that prints too much', async () => {
      await using made = begin();
      const sandbox = await made.make();
      const { stdout, stderr, end } = await sh(sandbox, 'while true; do echo 0123456789; done', {
        maxOutputBytes: 10_000,
      });
      expect(end).toMatchObject({ exitCode: null, cause: 'output' });
      expect(stdout.length + stderr.length).toBeLessThanOrEqual(10_000);
    });

    it('keeps two sandboxes apart that run at once', async () => {
      await using made = begin();
      const [one, other] = await Promise.all([made.make(), made.make()]);
      const script = (text: string) =>
        `echo ${text} > /tmp/mine; echo ${text} > mine; sleep 0.2; cat /tmp/mine mine; ls`;
      const [first, second] = await Promise.all([sh(one, script('one')), sh(other, script('other'))]);
      expect([first.stdout, second.stdout]).toEqual(['one\none\nmine\n', 'other\nother\nmine\n']);
    });

    it('gives those who share it a workspace each, and its temporary files to all', async () => {
      await using made = begin();
      const sandbox = await made.make();
      const [one, other] = [ids('wsp'), ids('wsp')];
      await sh(sandbox, 'echo mine > file; echo ours > /tmp/file', { workspaceId: one });
      const { stdout } = await sh(sandbox, 'ls; cat /tmp/file', { workspaceId: other });
      expect(stdout).toBe('ours\n');
    });

    it('runs fifty commands at once', async () => {
      await using made = begin();
      const sandbox = await made.make();
      const all = await Promise.all(
        Array.from({ length: 50 }, (_, i) => sh(sandbox, `echo ${i}; exit ${i}`)),
      );
      expect(all.map(({ stdout, end }) => [stdout, end.exitCode])).toEqual(
        Array.from({ length: 50 }, (_, i) => [`${i}\n`, i]),
      );
    });

    it('takes scripts of any length', async () => {
      await using made = begin();
      const sandbox = await made.make();
      const text = 'x'.repeat(300_000);
      const { stdout, end } = await sh(sandbox, `cat > file <<'END'\n${text}\nEND\nwc -c < file`);
      expect({ stdout: stdout.trim(), end }).toEqual({ stdout: '300001', end: { exitCode: 0 } });
    });

    it('is gone when it was removed, and what runs in it with it', async () => {
      const sandbox = await opened.provider.create(specOf());
      const running = sh(sandbox, 'while true; do :; done');
      await sandbox.destroy();
      expect((await running).end).toMatchObject({ exitCode: null, cause: 'stopped' });
      expect(await opened.provider.attach(specOf({ sandboxId: sandbox.sandboxId }))).toBeUndefined();
      await expect(sh(sandbox, 'echo')).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' });
    });

    it('is found again by the next process, with its workspaces', async () => {
      await using made = begin();
      const [kept, left] = await Promise.all([made.make(), made.make()]);
      await sh(kept, 'echo kept > file');
      const next = await opened.reopen();
      made.forget();
      opened.provider = next;
      await next.sweep([kept.sandboxId]);
      const found = await next.attach(specOf({ sandboxId: kept.sandboxId }));
      expect(found && (await sh(found, 'cat file')).stdout).toBe('kept\n');
      expect(await next.attach(specOf({ sandboxId: left.sandboxId }))).toBeUndefined();
      await found?.destroy();
    });

    it('keeps the limits that its table says', async () => {
      await using made = begin();
      const sandbox = await made.make({ limits: { cpuMillis: 500, memoryMib: 64, pids: 32, diskMib: 16 } });
      const { limits } = PROVIDERS[opened.provider.name];
      const inForce = {
        cpu_millis: sandbox.limits.cpuMillis,
        memory_mib: sandbox.limits.memoryMib,
        pids: sandbox.limits.pids,
        disk_mib: sandbox.limits.diskMib,
      };
      for (const [limit, { value, enforcement }] of Object.entries(inForce)) {
        if (!limits.some((one) => one === limit))
          expect({ value, enforcement }).toEqual({ value: null, enforcement: 'none' });
        else if (enforcement !== 'none') expect(value).toBeGreaterThan(0);
      }
    });
  });
}
