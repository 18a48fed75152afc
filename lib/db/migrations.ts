import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';
import { ROLE_KINDS, roleOf } from './roles.ts';

/** A numbered file of a service's `migrations` folder, such as `0001-create-agents.sql`. */
interface Migration {
  number: number;
  name: string;
  sql: string;
  checksum: string;
}

/** A schema cannot be migrated to this release. */
export class MigrationProblem extends Error {}

/**
 * Migrates the schema of a service, forward only, with one transaction per file. When several processes start at once,
 * one migrates and the others wait. The service itself uses roles that own nothing in the schema. `after` runs while the
 * other processes still wait. Returns the names of the applied migrations or the result of `after`.
 */
export async function migrate(url: string, schema: string, directory: URL): Promise<string[]>;
export async function migrate<Result>(
  url: string,
  schema: string,
  directory: URL,
  after: (client: pg.Client) => Promise<Result>,
): Promise<Result>;
export async function migrate<Result>(
  url: string,
  schema: string,
  directory: URL,
  after?: (client: pg.Client) => Promise<Result>,
): Promise<string[] | Result> {
  const migrations = await readMigrations(directory);
  const client = new pg.Client({ connectionString: url, application_name: `ahs-${schema}-migrations` });
  // A connection failure rejects the running query. Without a listener, the event would end the process.
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query(`select pg_advisory_lock(hashtextextended('ahs.migrations', 0))`);
    // Row-level security also applies to owners. With it off, a migration that policies restrict fails instead of skipping rows.
    await client.query('set row_security = off');
    await prepare(client, schema);
    const done = await apply(client, schema, migrations);
    return after ? await after(client) : done;
  } finally {
    await client.end();
  }
}

async function readMigrations(directory: URL): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (name, index) => {
      const number = Number.parseInt(name, 10);
      if (number !== index + 1) throw new MigrationProblem(`${name}: expected migration number ${index + 1}`);
      const sql = await readFile(new URL(name, `${directory}/`), 'utf8');
      return { number, name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

async function prepare(client: pg.Client, schema: string): Promise<void> {
  for (const kind of ROLE_KINDS) await prepareRole(client, roleOf(schema, kind));
  const role = roleOf(schema);
  await client.query(`
    create schema if not exists ${schema};
    alter default privileges in schema ${schema} grant select, insert, update, delete on tables to ${role};
    create table if not exists ${schema}.migrations (
      number integer primary key,
      name text not null,
      checksum text not null,
      applied_at timestamptz not null default now()
    );
    revoke all on ${schema}.migrations from ${role};`);
}

/** Roles belong to the whole server, so another process can create the same role for another database at the same time. */
async function prepareRole(client: pg.Client, role: string): Promise<void> {
  await client.query(`
    do $$ begin
      if not exists (select from pg_roles where rolname = '${role}') then create role ${role} nologin; end if;
    exception when duplicate_object or unique_violation then null;
    end $$`);
  // A separate statement: a role that another process created is visible only in a new transaction.
  await client.query(`
    do $$ begin
      -- The creator of a role may administer it but may not yet switch to it.
      if not pg_has_role(current_user, '${role}', 'set') then grant ${role} to current_user; end if;
    exception when duplicate_object or unique_violation then null;
    end $$`);
}

async function apply(client: pg.Client, schema: string, migrations: Migration[]): Promise<string[]> {
  const { rows } = await client.query<Migration>(`select number, name, checksum from ${schema}.migrations`);
  const applied = new Map(rows.map((row) => [row.number, row]));
  const done: string[] = [];
  for (const migration of migrations) {
    const previous = applied.get(migration.number);
    if (previous && previous.checksum !== migration.checksum) {
      throw new MigrationProblem(
        `${schema}: ${migration.name} has changed since it was applied as ${previous.name}; add a new migration instead`,
      );
    }
    if (previous) continue;
    await client.query('begin');
    try {
      await client.query(`set local search_path = ${schema}`);
      await client.query(migration.sql);
      await client.query(`insert into ${schema}.migrations (number, name, checksum) values ($1, $2, $3)`, [
        migration.number,
        migration.name,
        migration.checksum,
      ]);
      await client.query('commit');
    } catch (error) {
      await client.query('rollback');
      throw new MigrationProblem(
        `${schema}: ${migration.name} failed: ${error instanceof Error ? error.message : error}`,
        { cause: error },
      );
    }
    done.push(migration.name);
  }
  return done;
}
