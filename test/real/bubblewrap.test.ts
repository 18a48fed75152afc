import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { conforms, type Opened } from '../services/runner/sandbox/conformance.ts';
import { Runner } from '../services/runner/sandbox/remote.ts';
import { Sandboxes, sh } from '../services/runner/sandbox/shell.ts';
import { isRoot, NOBODY, ordinaryUser } from '../support/ordinary.ts';

async function open(before: (directory: string) => string[]): Promise<Opened> {
  const directory = mkdtempSync(join(tmpdir(), 'ahs-bubblewrap-'));
  const prefix = before(directory);
  const runners: Runner[] = [];
  const start = async () => {
    const runner = await Runner.start(prefix);
    runners.push(runner);
    return runner.openProvider(join(directory, 'data'));
  };
  return {
    provider: await start(),
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

if (isRoot) conforms('bubblewrap under a service that is root', () => open(() => []));
conforms('bubblewrap under a service of an ordinary user', () =>
  open((directory) => ordinaryUser(NOBODY, directory)),
);

describe('a sandbox of bubblewrap that is suspended', () => {
  it('has no process, unless it has temporary files', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'ahs-suspended-'));
    await using runner = await Runner.start([]);
    try {
      await using made = new Sandboxes(await runner.openProvider(join(directory, 'data')));
      const processes = () => readFileSync(`/proc/${runner.pid}/task/${runner.pid}/children`, 'utf8').trim();
      const sandbox = await made.make();
      await sh(sandbox, 'echo > file; echo > /tmp/file');
      await sandbox.suspend();
      expect(processes()).not.toBe('');
      await sh(sandbox, 'rm /tmp/file');
      await sandbox.suspend();
      expect(processes()).toBe('');
      await expect(sh(sandbox, 'true')).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' });
      await sandbox.resume();
      expect((await sh(sandbox, 'ls')).stdout).toBe('file\n');
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});

if (isRoot) {
  describe('bubblewrap where it does not work', () => {
    async function reasonOf(...before: string[]): Promise<string> {
      const directory = mkdtempSync(join(tmpdir(), 'ahs-closed-'));
      try {
        await using runner = await Runner.start(before);
        return await runner.openProvider(join(directory, 'data')).then(
          () => 'it works',
          (error: Error) => error.message,
        );
      } finally {
        rmSync(directory, { recursive: true, force: true });
      }
    }

    const ROOT = ['unshare', '--user', '--map-root-user'];

    it('says that the machine lets nobody make user namespaces', async () => {
      // There may be one more, and that is the one in which the runner is an ordinary user.
      const last = ['sh', '-c', 'echo 1 > /proc/sys/user/max_user_namespaces; exec "$@"', 'sh'];
      const user = ['unshare', '--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`];
      expect(await reasonOf(...ROOT, ...last, ...user)).toMatch(
        /^this machine does not let it make user namespaces \(bwrap: .*\)$/,
      );
    });

    it('says that the users are missing that sandboxes would be', async () => {
      expect(await reasonOf(...ROOT)).toMatch(/^there are no users from 1900000000 on/);
    });
  });
}
