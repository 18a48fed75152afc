import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startPostgres } from '../../lib/db/embedded.ts';
import { createMigratedDatabase } from './database.ts';
import { scratch } from './scratch.ts';
import { runOn } from './sql.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    postgresUrl: string;
  }
}

/**
 * Durability is off: crash tests start a server of their own. One SCRAM iteration, because services log in thousands of times
 * per run.
 */
const SETTINGS = { max_connections: '400', fsync: 'off', full_page_writes: 'off', scram_iterations: '1' };

/** Starts one PostgreSQL for the whole run. Each test file creates its own databases in it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(scratch(), 'ahs-test-postgres-'));
  const server = await startPostgres({ directory, settings: SETTINGS, log: () => {} });
  const { username, password } = new URL(server.url);
  // Store the administrator's password with one SCRAM iteration as well.
  await runOn(server.url, `set scram_iterations = 1; alter role ${username} password '${password}'`);
  await createMigratedDatabase(server.url);
  project.provide('postgresUrl', server.url);
  return async () => {
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  };
}
