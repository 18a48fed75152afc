import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { scratch } from '../scratch.ts';
import { type Check, PACKAGE, readChecks } from './suite.ts';

const run = promisify(execFile);
const RUNNER = join(PACKAGE, 'dist/index.js');

/** All scenarios of the suite for servers: the revisions of the protocol that each applies to, or `extension`. */
export async function serverScenarios(): Promise<Map<string, string[]>> {
  const { stdout } = await run(process.execPath, [RUNNER, 'list', '--server']);
  const lines = stdout.matchAll(/^ {2}- (\S+) \[(.+)\]$/gm);
  return new Map([...lines].map(([, name = '', revisions = '']) => [name, revisions.split(',')]));
}

/** Runs all scenarios that the suite has for a revision against a server. Returns their checks by scenario. */
export async function runServerScenarios(revision: string, url: string): Promise<Map<string, Check[]>> {
  const directory = await mkdtemp(join(scratch(), 'ahs-conformance-'));
  try {
    const args = [RUNNER, 'server', '--url', url, '--requirements', revision, '--output-dir', directory];
    // The exit code tells that a scenario has failed, and the checks tell which one.
    await run(process.execPath, args, { maxBuffer: 2 ** 26 }).catch(() => {});
    return await readChecks(directory, 'server-');
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
