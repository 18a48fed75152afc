import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startPostgres } from '../../lib/db/embedded.ts';
import { scratch } from './scratch.ts';
import { runOn } from './sql.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    postgresUrl: string;
  }
}

/**
 * Nobody cuts its power and looks at what is left; tests that do so start one of their own. Thousands of times a run,
 * a service proves that it knows its password; no guesser has to be kept waiting.
 */
const SETTINGS = { max_connections: '400', fsync: 'off', full_page_writes: 'off', scram_iterations: '1' };

/** One PostgreSQL for the whole run; each test file makes databases of its own in it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(scratch(), 'ahs-test-postgres-'));
  const server = await startPostgres({ directory, settings: SETTINGS, log: () => {} });
  const { username, password } = new URL(server.url);
  // Thousands of times a run, somebody proves to know it; no guesser has to be kept waiting here.
  await runOn(server.url, `set scram_iterations = 1; alter role ${username} password '${password}'`);
  project.provide('postgresUrl', server.url);
  return async () => {
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  };
}
