import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { confined, SECRET } from '../services/runner/sandbox/confined.ts';
import { Runner } from '../services/runner/sandbox/remote.ts';
import { Sandboxes, sh, workspaceOf } from '../services/runner/sandbox/shell.ts';
import { bytes, PLAIN, readText } from '../services/runner/sandbox/workspace.ts';
import { isRoot } from '../support/ordinary.ts';

confined('the files of a sandbox', (given) => {
  it('shows the programs of the machine, and no other file of it', async () => {
    const sandbox = await given.made.make();
    const { stdout } = await sh(
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
      expect((await sh(sandbox, `ls ${path}`)).end.exitCode).toBe(2);
    const { stdout: found } = await sh(
      sandbox,
      `grep -rsl ${SECRET} /proc/[0-9]*/environ /proc/[0-9]*/cmdline /etc /run /tmp ~ /dev/shm`,
    );
    expect(found).toBe('');
  });

  if (isRoot) {
    it('shows other directories when it is told to, but never what is to be hidden', async () => {
      const shown = mkdtempSync('/opt/ahs-shown-');
      try {
        mkdirSync(join(shown, 'hidden/deep'), { recursive: true });
        for (const name of ['public', 'hidden/secret', 'hidden/deep/secret'])
          writeFileSync(join(shown, name), SECRET);
        chmodSync(shown, 0o755);
        await using own = await Runner.start(given.prefix);
        const options = { shown: [shown], hidden: [join(shown, 'hidden')] };
        await using there = new Sandboxes(await own.openProvider(join(given.directory, 'showing'), options));
        const sandbox = await there.make();
        const script = `cd ${shown}; cat public; ls; cat hidden/secret hidden/deep/secret; touch new; ls -A /opt`;
        expect((await sh(sandbox, script)).stdout).toBe(`${SECRET}hidden\npublic\n${basename(shown)}\n`);
      } finally {
        rmSync(shown, { recursive: true });
      }
    });
  }

  it('can write its workspace and temporary files, and nothing else', async () => {
    const sandbox = await given.made.make();
    const script = `for d in / /usr /usr/bin /etc /bin /lib /home /dev /var /run /proc /proc/sys/kernel /proc/1; do
      touch $d/new 2>/dev/null && echo "$d"; done
      for f in /proc/sys/kernel/core_pattern /proc/sys/kernel/hostname /proc/sysrq-trigger /proc/self/uid_map /proc/self/oom_score_adj; do
      { echo -1000 > $f; } 2>/dev/null && echo "$f"; done
      for d in /workspace /tmp ~ /dev/shm /var/tmp; do touch $d/new && echo "$d yes"; done`;
    expect((await sh(sandbox, script)).stdout.split('\n')).toEqual([
      '/workspace yes',
      '/tmp yes',
      '/home/agent yes',
      '/dev/shm yes',
      '/var/tmp yes',
      '',
    ]);
  });

  it('does not reach the workspaces of others, nor their temporary files', async () => {
    const [one, other] = await Promise.all([given.made.make(), given.made.make()]);
    await sh(
      one,
      `echo ${SECRET} > /workspace/file; echo ${SECRET} > /tmp/file; echo ${SECRET} > ~/file; echo ${SECRET} > /dev/shm/file`,
    );
    const { stdout } = await sh(
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

  it('plants links, and nobody outside goes through them', async () => {
    const sandbox = await given.made.make();
    const tree = await sandbox.workspace(workspaceOf(sandbox));
    const secret = join(given.directory, 'secret');
    await sh(
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

  it('swaps a directory for a link while it is read, and gains nothing', async () => {
    const sandbox = await given.made.make();
    const tree = await sandbox.workspace(workspaceOf(sandbox));
    const swap = `mkdir d; echo mine > d/secret; ln -s ${given.directory} l
      perl -e 'while (1) { rename "d", "e"; rename "l", "d"; rename "d", "l"; rename "e", "d" }'`;
    const stop = new AbortController();
    const running = sh(sandbox, swap, { signal: stop.signal });
    const found = new Set<string>();
    for (let round = 0; round < 3_000; round++)
      found.add(
        await readText(tree, 'd/secret').catch((error) => (error instanceof Error ? '' : String(error))),
      );
    stop.abort();
    await running;
    expect([...found].filter((text) => !['', 'mine\n'].includes(text))).toEqual([]);
    expect(found).toContain('mine\n');
  });

  it('inherits nothing of the service: no variable, no open file', async () => {
    const sandbox = await given.made.make();
    const { stdout } = await sh(
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
