import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeConformance, type ProviderFixture } from '../services/runner/sandbox/conformance.ts';
import { RunnerProcess } from '../services/runner/sandbox/remote-provider.ts';
import { runScript, SandboxFixture } from '../services/runner/sandbox/run-script.ts';
import { asUnprivilegedUser, isRoot, UNPRIVILEGED_UID } from '../support/unprivileged-user.ts';

async function open(before: (directory: string) => string[]): Promise<ProviderFixture> {
  const directory = mkdtempSync(join(tmpdir(), 'ahs-bubblewrap-'));
  const prefix = before(directory);
  const runners: RunnerProcess[] = [];
  const start = async () => {
    const runner = await RunnerProcess.start(prefix);
    runners.push(runner);
    return runner.openProvider(join(directory, 'data'));
  };
  return {
    provider: await start(),
    root: join(directory, 'data', 'sandboxes'),
    skills: join(directory, 'data', 'skills'),
    async reopen() {
      await runners.at(-1)?.kill();
      return start();
    },
    async close() {
      for (const runner of runners) await runner[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

if (isRoot) describeConformance('bubblewrap under a service that is root', () => open(() => []));
describeConformance('bubblewrap under a service of an ordinary user', () =>
  open((directory) => asUnprivilegedUser(UNPRIVILEGED_UID, directory)),
);

describe('a suspended bubblewrap sandbox', () => {
  it('has no process unless it holds temporary files', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'ahs-suspended-'));
    await using runner = await RunnerProcess.start([]);
    try {
      await using made = new SandboxFixture(await runner.openProvider(join(directory, 'data')));
      const processes = () => readFileSync(`/proc/${runner.pid}/task/${runner.pid}/children`, 'utf8').trim();
      const sandbox = await made.create();
      await runScript(sandbox, 'echo > file; echo > /tmp/file');
      await sandbox.suspend();
      expect(processes()).not.toBe('');
      await runScript(sandbox, 'rm /tmp/file');
      await sandbox.suspend();
      expect(processes()).toBe('');
      await expect(runScript(sandbox, 'true')).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' });
      await sandbox.resume();
      expect((await runScript(sandbox, 'ls')).stdout).toBe('file\n');
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});

if (isRoot) {
  describe('the bubblewrap probe on an unsuitable machine', () => {
    async function reasonOf(...before: string[]): Promise<string> {
      const directory = mkdtempSync(join(tmpdir(), 'ahs-closed-'));
      try {
        await using runner = await RunnerProcess.start(before);
        return await runner.openProvider(join(directory, 'data')).then(
          () => 'it works',
          (error: Error) => error.message,
        );
      } finally {
        rmSync(directory, { recursive: true, force: true });
      }
    }

    const ROOT = ['unshare', '--user', '--map-root-user'];

    it('reports that user namespaces are disabled', async () => {
      // One more namespace is permitted: the one that makes the runner an unprivileged user.
      const last = ['sh', '-c', 'echo 1 > /proc/sys/user/max_user_namespaces; exec "$@"', 'sh'];
      const user = ['unshare', '--user', `--map-user=${UNPRIVILEGED_UID}`, `--map-group=${UNPRIVILEGED_UID}`];
      expect(await reasonOf(...ROOT, ...last, ...user)).toMatch(
        /^this machine does not allow user namespaces \(bwrap: .*\)$/,
      );
    });

    it('reports missing user ids for sandboxes', async () => {
      expect(await reasonOf(...ROOT)).toMatch(/^the user ids from 1900000000 on do not exist/);
    });
  });
}
