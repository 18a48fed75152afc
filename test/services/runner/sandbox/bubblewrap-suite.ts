import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { asUnprivilegedUser, isRoot, UNPRIVILEGED_UID } from '../../../support/unprivileged-user.ts';
import { RunnerProcess } from './remote-provider.ts';
import { SandboxFixture } from './run-script.ts';

export const SECRET = 'only-the-service-knows';

/** A runner process with a bubblewrap provider, and its directories. */
export interface BubblewrapSuite {
  /** Holds a file named secret. */
  directory: string;
  /** The directory of the provider, below `directory`. */
  data: string;
  /** A command that runs a program as the same user as the runner process. */
  prefix: string[];
  runner: RunnerProcess;
  sandboxes: SandboxFixture;
}

/** Defines the same tests for a runner that is root, when this process is root, and for an ordinary user. */
export function describeBubblewrap(subject: string, define: (suite: BubblewrapSuite) => void): void {
  if (isRoot) defineSuite(`${subject}, bubblewrap as root`, () => [], define);
  defineSuite(
    `${subject}, bubblewrap as an ordinary user`,
    (directory) => asUnprivilegedUser(UNPRIVILEGED_UID, directory),
    define,
  );
}

function defineSuite(
  name: string,
  prefixFor: (directory: string) => string[],
  define: (suite: BubblewrapSuite) => void,
): void {
  describe(name, () => {
    const suite = {} as BubblewrapSuite;
    beforeAll(async () => {
      suite.directory = mkdtempSync(join(tmpdir(), 'ahs-escape-'));
      suite.data = join(suite.directory, 'data');
      writeFileSync(join(suite.directory, 'secret'), SECRET);
      suite.prefix = prefixFor(suite.directory);
      suite.runner = await RunnerProcess.start(suite.prefix);
      suite.sandboxes = new SandboxFixture(await suite.runner.openProvider(suite.data));
    });
    afterAll(async () => {
      await suite.sandboxes?.[Symbol.asyncDispose]();
      await suite.runner?.[Symbol.asyncDispose]();
      rmSync(suite.directory, { recursive: true, force: true });
    });
    define(suite);
  });
}

/** Returns the pids of running processes whose command line contains a text. */
export function processesWith(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const isAlive = !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
        return isAlive && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text) ? Number(pid) : [];
      } catch {
        return [];
      }
    });
}

let lastSeconds = 100_000;
/** Returns a unique number of seconds for `sleep`, longer than any test. It identifies the process. */
export const uniqueSeconds = () => `${++lastSeconds}${process.pid}`;
