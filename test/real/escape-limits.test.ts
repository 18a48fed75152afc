import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeBubblewrap, processesWith } from '../services/runner/sandbox/bubblewrap-suite.ts';
import { RunnerProcess } from '../services/runner/sandbox/remote-provider.ts';
import { runScript, SandboxFixture, workspaceIdOf } from '../services/runner/sandbox/run-script.ts';
import { isRoot } from '../support/unprivileged-user.ts';

describeBubblewrap('the limits of a sandbox', (given) => {
  it('contains a fork bomb', async () => {
    const [bomb, other] = await Promise.all([
      given.sandboxes.create({ limits: { pids: 40 } }),
      given.sandboxes.create(),
    ]);
    expect(bomb.limits.pids.value).toBe(40);
    const exploding = runScript(bomb, ':(){ :|:& };:; sleep 1000', { timeoutMs: 2_000, maxOutputBytes: 1e9 });
    expect((await runScript(other, 'echo alive')).stdout).toBe('alive\n');
    await exploding;
    expect(processesWith(`/sandbox/${bomb.sandboxId}/`)).toEqual([]);
    expect((await runScript(bomb, 'echo alive')).stdout).toBe('alive\n');
  });

  it('cannot exhaust memory', async () => {
    const sandbox = await given.sandboxes.create({ limits: { memoryMib: 64 } });
    const { end, stdout } = await runScript(
      sandbox,
      `perl -e '$x = "a" x 400_000_000; print "had it"'; echo $?`,
    );
    expect(stdout).not.toContain('had it');
    if (sandbox.limits.memoryMib.enforcement === 'sandbox') expect(end.note ?? end.cause).toMatch(/memory/);
    expect((await runScript(sandbox, 'echo alive')).stdout).toBe('alive\n');
  });

  it('has one limit for all its temporary files', async () => {
    const sandbox = await given.sandboxes.create({ limits: { diskMib: 8 } });
    const fill = (path: string) => `head -c 4000000 /dev/zero > ${path}`;
    expect((await runScript(sandbox, `${fill('/tmp/a')} && ${fill('~/b')}`)).end.exitCode).toBe(0);
    const { end, stderr } = await runScript(sandbox, fill('/dev/shm/c'));
    expect(end.exitCode).not.toBe(0);
    expect(stderr).toContain('No space left on device');
  });

  if (isRoot) {
    it('leaves the disk reserve free', async () => {
      const small = join(given.directory, 'small');
      execFileSync('mount', ['--mkdir', '-t', 'tmpfs', '-o', 'size=64m,mode=777', 'tmpfs', small]);
      try {
        await using own = await RunnerProcess.start(given.prefix);
        await using there = new SandboxFixture(await own.openProvider(join(small, 'data')));
        const sandbox = await there.create();
        const filling = 'while head -c 1000000 /dev/zero >> big; do sleep 0.02; done; sleep 1000';
        expect((await runScript(sandbox, filling)).end).toEqual({
          exitCode: null,
          cause: 'disk',
          reachedLimit: expect.stringMatching(
            /^the disk of the runner was nearly full|common limit|its limit/,
          ),
        });
        await (await sandbox.workspace(workspaceIdOf(sandbox))).clear();
        expect((await runScript(sandbox, 'echo alive')).stdout).toBe('alive\n');
      } finally {
        execFileSync('umount', [small]);
      }
    });
  }

  it('cannot change its control group or its limits', async () => {
    const sandbox = await given.sandboxes.create();
    const script = `ls /sys 2>&1; find / -name cgroup.procs 2>/dev/null; ulimit -n 1000000 && echo raised; ulimit -c unlimited && echo raised`;
    const { stdout } = await runScript(sandbox, script);
    expect(stdout).not.toMatch(/raised|cgroup.procs/);
  });
});
