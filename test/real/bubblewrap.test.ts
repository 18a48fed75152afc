import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { conforms, type Opened } from '../services/runner/sandbox/conformance.ts';
import { Runner } from '../services/runner/sandbox/remote.ts';
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
