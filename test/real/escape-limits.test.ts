import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { confined, processesWith } from '../services/runner/sandbox/confined.ts';
import { Runner } from '../services/runner/sandbox/remote.ts';
import { Sandboxes, sh, workspaceOf } from '../services/runner/sandbox/shell.ts';
import { isRoot } from '../support/ordinary.ts';

confined('the limits of a sandbox', (given) => {
  it('keeps a fork bomb to itself', async () => {
    const [bomb, other] = await Promise.all([given.made.make({ limits: { pids: 40 } }), given.made.make()]);
    expect(bomb.limits.pids.value).toBe(40);
    const exploding = sh(bomb, ':(){ :|:& };:; sleep 1000', { timeoutMs: 2_000, maxOutputBytes: 1e9 });
    expect((await sh(other, 'echo alive')).stdout).toBe('alive\n');
    await exploding;
    expect(processesWith(`/sandbox/${bomb.sandboxId}/`)).toEqual([]);
    expect((await sh(bomb, 'echo alive')).stdout).toBe('alive\n');
  });

  it('cannot take all memory', async () => {
    const sandbox = await given.made.make({ limits: { memoryMib: 64 } });
    const { end, stdout } = await sh(sandbox, `perl -e '$x = "a" x 400_000_000; print "had it"'; echo $?`);
    expect(stdout).not.toContain('had it');
    if (sandbox.limits.memoryMib.enforcement === 'sandbox') expect(end.note ?? end.cause).toMatch(/memory/);
    expect((await sh(sandbox, 'echo alive')).stdout).toBe('alive\n');
  });

  it('has one limit for all its temporary files, wherever they are', async () => {
    const sandbox = await given.made.make({ limits: { diskMib: 8 } });
    const fill = (path: string) => `head -c 4000000 /dev/zero > ${path}`;
    expect((await sh(sandbox, `${fill('/tmp/a')} && ${fill('~/b')}`)).end.exitCode).toBe(0);
    const { end, stderr } = await sh(sandbox, fill('/dev/shm/c'));
    expect(end.exitCode).not.toBe(0);
    expect(stderr).toContain('No space left on device');
  });

  if (isRoot) {
    it('leaves room on the disk for others', async () => {
      const small = join(given.directory, 'small');
      execFileSync('mount', ['--mkdir', '-t', 'tmpfs', '-o', 'size=64m,mode=777', 'tmpfs', small]);
      try {
        await using own = await Runner.start(given.prefix);
        await using there = new Sandboxes(await own.openProvider(join(small, 'data')));
        const sandbox = await there.make();
        const filling = 'while head -c 1000000 /dev/zero >> big; do sleep 0.02; done; sleep 1000';
        expect((await sh(sandbox, filling)).end).toEqual({
          exitCode: null,
          cause: 'disk',
          note: 'The disk of the runner is nearly full.',
        });
        await (await sandbox.workspace(workspaceOf(sandbox))).clear();
        expect((await sh(sandbox, 'echo alive')).stdout).toBe('alive\n');
      } finally {
        execFileSync('umount', [small]);
      }
    });
  }

  it('leaves its control group and its limits to others', async () => {
    const sandbox = await given.made.make();
    const script = `ls /sys 2>&1; find / -name cgroup.procs 2>/dev/null; ulimit -n 1000000 && echo raised; ulimit -c unlimited && echo raised`;
    const { stdout } = await sh(sandbox, script);
    expect(stdout).not.toMatch(/raised|cgroup.procs/);
  });
});
