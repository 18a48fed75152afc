import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { Semaphore } from '../../../lib/semaphore.ts';
import { scratch } from '../scratch.ts';

/** A scenario of the suite, which has started a server for it. */
export interface Scenario {
  scenario: string;
  /** The address of the MCP server. */
  url: string;
  /** What the client needs to know, for example its credentials. */
  context: Record<string, unknown>;
}

export interface Check {
  id: string;
  name: string;
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'INFO' | 'SKIPPED';
  description: string;
  errorMessage?: string;
}

export const PACKAGE = fileURLToPath(
  new URL('../../../node_modules/@modelcontextprotocol/conformance/', import.meta.url),
);
const CLIENT = fileURLToPath(new URL('client.ts', import.meta.url));
const TIMEOUT_MS = 200_000;
/** Scenarios at the same time. The suite starts all of them at once. */
const SLOTS = 4;

/** The client scenarios that a revision of the protocol requires. */
export async function requiredScenarios(revision: string): Promise<string[]> {
  const { client } = parse(await readFile(join(PACKAGE, 'requirements', `${revision}.yaml`), 'utf8'));
  return client;
}

/** Runs the scenarios of a revision at the same time. Returns their checks by scenario. */
export async function runScenarios(
  revision: string,
  run: (scenario: Scenario) => Promise<void>,
): Promise<Map<string, Check[]>> {
  await using stack = new AsyncDisposableStack();
  const slots = new Semaphore(SLOTS);
  const driver = createServer(async (request, response) => {
    try {
      const scenario = (await json(request)) as Scenario;
      await slots.run(() => run(scenario));
      response.writeHead(204).end();
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  driver.listen(0, '127.0.0.1');
  await once(driver, 'listening');
  stack.defer(async () => {
    driver.closeAllConnections();
    await new Promise((resolve) => driver.close(resolve));
  });
  const directory = await mkdtemp(join(scratch(), 'ahs-conformance-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const { port } = driver.address() as AddressInfo;
  const command = `${process.execPath} ${CLIENT} http://127.0.0.1:${port}`;
  const suite = spawn(
    process.execPath,
    [
      ...[join(PACKAGE, 'dist/index.js'), 'client', '--requirements', revision, '--command', command],
      ...['--output-dir', directory, '--timeout', String(TIMEOUT_MS)],
    ],
    { stdio: 'ignore' },
  );
  stack.defer(() => void suite.kill('SIGKILL'));
  await once(suite, 'exit');
  return await readChecks(directory);
}

/**
 * Reads the checks of each scenario. A scenario has a folder `<scenario>-<time>`, below `auth` for the scenarios of
 * authorization, and with the prefix `server-` for those of servers.
 */
export async function readChecks(directory: string, prefix = ''): Promise<Map<string, Check[]>> {
  const checks = new Map<string, Check[]>();
  for (const path of await readdir(directory, { recursive: true })) {
    if (!path.startsWith(prefix)) continue;
    const [, scenario] = /^(.+)-\d{4}-\d\d-\d\dT[^/]*\/checks\.json$/.exec(path.slice(prefix.length)) ?? [];
    if (scenario !== undefined)
      checks.set(scenario, JSON.parse(await readFile(join(directory, path), 'utf8')));
  }
  return checks;
}
