import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { describeBubblewrap, SECRET } from '../services/runner/sandbox/bubblewrap-suite.ts';
import { RunnerProcess } from '../services/runner/sandbox/remote-provider.ts';
import { runScript, SandboxFixture, workspaceIdOf } from '../services/runner/sandbox/run-script.ts';
import { bytes, PLAIN, readText } from '../services/runner/sandbox/workspace-fixture.ts';
import { isRoot } from '../support/unprivileged-user.ts';
import { until } from '../support/wait.ts';

describeBubblewrap('the files of a sandbox', (given) => {
  it('sees the programs of the machine and no other of its files', async () => {
    const sandbox = await given.sandboxes.create();
    const { stdout } = await runScript(
      sandbox,
      'ls -A / /home /etc /run /var; ls /proc | grep -v "^[0-9]" > /dev/null',
    );
    for (const name of [
      'root',
      'srv',
      'opt',
      'sys',
      'mnt',
      'boot',
      'scratch',
      'sandbox',
      'shadow',
      'machine-id',
      'ssh',
    ])
      expect(stdout.split('\n')).not.toContain(name);
    for (const path of [
      given.directory,
      join(given.directory, 'secret'),
      import.meta.dirname,
      '/etc/shadow',
      '/root',
      '/sys',
    ])
      expect((await runScript(sandbox, `ls ${path}`)).end.exitCode).toBe(2);
    const { stdout: found } = await runScript(
      sandbox,
      `grep -rsl ${SECRET} /proc/[0-9]*/environ /proc/[0-9]*/cmdline /etc /run /tmp ~ /dev/shm`,
    );
    expect(found).toBe('');
  });

  if (isRoot) {
    it('sees additionally configured directories, but never hidden ones', async () => {
      const shown = mkdtempSync('/opt/ahs-shown-');
      try {
        mkdirSync(join(shown, 'hidden/deep'), { recursive: true });
        for (const name of ['public', 'hidden/secret', 'hidden/deep/secret'])
          writeFileSync(join(shown, name), SECRET);
        chmodSync(shown, 0o755);
        await using own = await RunnerProcess.start(given.prefix);
        const options = { readableDirectories: [shown], hiddenPaths: [join(shown, 'hidden')] };
        await using there = new SandboxFixture(
          await own.openProvider(join(given.directory, 'showing'), options),
        );
        const sandbox = await there.create();
        const script = `cd ${shown}; cat public; ls; cat hidden/secret hidden/deep/secret; touch new; ls -A /opt`;
        expect((await runScript(sandbox, script)).stdout).toBe(
          `${SECRET}hidden\npublic\n${basename(shown)}\n`,
        );
      } finally {
        rmSync(shown, { recursive: true });
      }
    });
  }

  it('can write only its workspace and temporary files', async () => {
    const sandbox = await given.sandboxes.create();
    const script = `for d in / /usr /usr/bin /etc /bin /lib /home /dev /var /run /proc /proc/sys/kernel /proc/1; do
      touch $d/new 2>/dev/null && echo "$d"; done
      for f in /proc/sys/kernel/core_pattern /proc/sys/kernel/hostname /proc/sysrq-trigger /proc/self/uid_map /proc/self/oom_score_adj; do
      { echo -1000 > $f; } 2>/dev/null && echo "$f"; done
      for d in /workspace /tmp ~ /dev/shm /var/tmp; do touch $d/new && echo "$d yes"; done`;
    expect((await runScript(sandbox, script)).stdout.split('\n')).toEqual([
      '/workspace yes',
      '/tmp yes',
      '/home/agent yes',
      '/dev/shm yes',
      '/var/tmp yes',
      '',
    ]);
  });

  it('cannot reach workspaces or temporary files of other sandboxes', async () => {
    const [one, other] = await Promise.all([given.sandboxes.create(), given.sandboxes.create()]);
    await runScript(
      one,
      `echo ${SECRET} > /workspace/file; echo ${SECRET} > /tmp/file; echo ${SECRET} > ~/file; echo ${SECRET} > /dev/shm/file`,
    );
    const { stdout } = await runScript(
      other,
      `ls -A /workspace /tmp ~ /dev/shm; grep -rs ${SECRET} / --exclude-dir=proc --exclude-dir=usr`,
    );
    expect(stdout).not.toContain('file');
    expect(stdout).not.toContain(SECRET);
    if (!isRoot) return;
    const owners = [one, other].map(
      ({ sandboxId }) => statSync(join(given.data, 'sandboxes', sandboxId, 'home')).uid,
    );
    if (given.prefix.length === 0) expect(new Set([...owners, 0]).size).toBe(3);
  });

  it('cannot make the host follow links that it creates', async () => {
    const sandbox = await given.sandboxes.create();
    const tree = await sandbox.workspace(workspaceIdOf(sandbox));
    const secret = join(given.directory, 'secret');
    await runScript(
      sandbox,
      `ln -s ${secret} file; ln -s ${given.directory} folder; ln -s /proc/self/environ environ; mkdir real; ln -s ../../../../../../../../../..${secret} real/up`,
    );
    for (const path of ['file', 'folder/secret', 'environ', 'real/up'])
      await expect(readText(tree, path)).rejects.toThrow();
    await expect(tree.putFile('folder/secret', bytes('x'), PLAIN)).rejects.toThrow();
    await tree.putFile('file', bytes('x'), PLAIN);
    expect(readFileSync(secret, 'utf8')).toBe(SECRET);
    await tree.clear();
    expect(readFileSync(secret, 'utf8')).toBe(SECRET);
  });

  it('cannot redirect a host-side read by swapping a directory for a link', async () => {
    const sandbox = await given.sandboxes.create();
    const tree = await sandbox.workspace(workspaceIdOf(sandbox));
    const swap = `mkdir d; echo mine > d/secret; ln -s ${given.directory} l
      perl -e 'while (1) { rename "d", "e"; rename "l", "d"; rename "d", "l"; rename "e", "d" }'`;
    const stop = new AbortController();
    const running = runScript(sandbox, swap, { signal: stop.signal });
    const found = new Set<string>();
    await until('the command has written the file', () =>
      readText(tree, 'd/secret').then(Boolean, () => false),
    );
    for (let round = 0; round < 3_000; round++)
      found.add(
        await readText(tree, 'd/secret').catch((error) => (error instanceof Error ? '' : String(error))),
      );
    stop.abort();
    await running;
    expect([...found].filter((text) => !['', 'mine\n'].includes(text))).toEqual([]);
    expect(found).toContain('mine\n');
  });

  it('inherits no variable and no open file of the service', async () => {
    const sandbox = await given.sandboxes.create();
    const { stdout } = await runScript(
      sandbox,
      'env | cut -d= -f1 | sort; ls -l /proc/self/fd /proc/1/fd; cat /proc/1/environ',
    );
    expect(stdout.split('\n').filter((line) => /^[A-Z_]+$/.test(line))).toEqual([
      'HOME',
      'LANG',
      'LOGNAME',
      'PATH',
      'PWD',
      'SHELL',
      'SHLVL',
      'TERM',
      'TMPDIR',
      'USER',
      '_',
    ]);
    expect(stdout).not.toContain(given.directory);
    const links = stdout.split('\n').flatMap((line) => / -> (.*)$/.exec(line)?.[1] ?? []);
    for (const link of links)
      expect(link).toMatch(
        /^(\/dev\/null|\/pipes\/\S+ \(deleted\)|\/scratch\/pipes\/\S+ \(deleted\)|\/proc\/\d+\/fd|anon_inode:\[eventfd\])$/,
      );
  });
});
