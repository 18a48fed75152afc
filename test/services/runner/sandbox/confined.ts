import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { isRoot, NOBODY, ordinaryUser } from '../../../support/ordinary.ts';
import { Runner } from './remote.ts';
import { Sandboxes } from './shell.ts';

export const SECRET = 'only-the-service-knows';

/** A runner with bubblewrap, and what lies around it. */
export interface Given {
  /** With a file named secret. */
  directory: string;
  /** In it, where the runner keeps its sandboxes. */
  data: string;
  /** What stands before a program so that it is the same user as the runner. */
  prefix: string[];
  runner: Runner;
  made: Sandboxes;
}

/** Has the same tests tried under a service that is root, where this process can be, and under an ordinary user. */
export function confined(what: string, define: (given: Given) => void): void {
  if (isRoot) begin(`${what} of bubblewrap under a service that is root`, () => [], define);
  begin(
    `${what} of bubblewrap under a service of an ordinary user`,
    (directory) => ordinaryUser(NOBODY, directory),
    define,
  );
}

function begin(name: string, before: (directory: string) => string[], define: (given: Given) => void): void {
  describe(name, () => {
    const given = {} as Given;
    beforeAll(async () => {
      given.directory = mkdtempSync(join(tmpdir(), 'ahs-escape-'));
      given.data = join(given.directory, 'data');
      writeFileSync(join(given.directory, 'secret'), SECRET);
      given.prefix = before(given.directory);
      given.runner = await Runner.start(given.prefix);
      given.made = new Sandboxes(await given.runner.openProvider(given.data));
    });
    afterAll(async () => {
      await given.made?.[Symbol.asyncDispose]();
      await given.runner?.[Symbol.asyncDispose]();
      rmSync(given.directory, { recursive: true, force: true });
    });
    define(given);
  });
}

/** Processes of this machine whose command line holds a text. */
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

/** Long enough never to end by itself, and like no other. */
let naps = 100_000;
export const nap = () => `${++naps}${process.pid}`;
