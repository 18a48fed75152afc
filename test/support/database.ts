import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { inject } from 'vitest';
import { migrate } from '../../lib/db/migrations.ts';
import { runOn } from './sql.ts';

export interface TestDatabase extends AsyncDisposable {
  url: string;
}

/** A database with the schemas of all services. Migrating costs five times the CPU time of a copy. */
const MIGRATED = 'migrated';
const SERVICES = new URL('../../services/', import.meta.url);

/** Creates the database that `createDatabase` copies, once per server. Nothing may stay connected to it. */
export async function createMigratedDatabase(server: string): Promise<void> {
  await runOn(server, `create database ${MIGRATED}`);
  for (const service of await readdir(SERVICES)) {
    const directory = new URL(`${service}/migrations/`, SERVICES);
    const isOwner = await readdir(directory).then(
      () => true,
      () => false,
    );
    if (isOwner) await migrate(urlOf(server, MIGRATED), service, directory);
  }
}

/** Creates a database with the schemas of all services and without rows. Disposal drops it. */
export function createDatabase(): Promise<TestDatabase> {
  return create(`template ${MIGRATED} strategy file_copy`);
}

/** Creates an empty database, for tests of migrations. Disposal drops it. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return create('');
}

async function create(options: string): Promise<TestDatabase> {
  const server = inject('postgresUrl');
  const name = `test_${randomBytes(6).toString('hex')}`;
  await runOn(server, `create database ${name} ${options}`);
  return {
    url: urlOf(server, name),
    [Symbol.asyncDispose]: () => runOn(server, `drop database ${name} with (force)`),
  };
}

function urlOf(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = database;
  return url.href;
}
