import { type Database, openDatabase, type Statement } from '../../lib/db/database.ts';
import { type Logins, makeLogins } from '../../lib/db/logins.ts';
import { migrate } from '../../lib/db/migrations.ts';
import { sha256 } from '../../lib/digest.ts';
import { createDatabase } from './database.ts';
import { rowsOn } from './sql.ts';

const SECRET = 'what the passwords of these tests follow from';

export const ALICE = 'usr_00000000000000000000000A01';
export const BOB = 'usr_00000000000000000000000B02';

export interface Wall extends AsyncDisposable {
  /** Of a superuser, who sees everything. */
  url: string;
  /** As the service has it. */
  db: Database;
  logins: Logins;
  /** What somebody is shown who asks for everything in a table; `undefined` of a table that is closed to them. */
  everythingIn(table: string, userId: string): Promise<object[] | undefined>;
  /** The same on a connection that carries nobody. */
  nothingIn(table: string): Promise<object[] | undefined>;
  /** Tables with rows that policies do not guard, whoever owns them. */
  unguarded(): Promise<string[]>;
  /** Tables that are open to somebody at all. */
  open(): Promise<string[]>;
}

/** A statement that no service has. */
export function foreign(text: string): Statement {
  return { name: `wall.${sha256(text).slice(0, 32)}`, text };
}

/** The second wall of a service alone: its schema, and its database as it has it, without anything of the first one. */
export async function openWall(schema: string): Promise<Wall> {
  const server = await createDatabase();
  const { url } = server;
  const directory = new URL(`../../services/${schema}/migrations/`, import.meta.url);
  const logins = await migrate(url, schema, directory, (client) => makeLogins(client, url, schema, SECRET));
  if (!logins) throw new Error('the server lets no logins of services in');
  const db = openDatabase({ url, schema, logins, pool: 2, onIdleError: () => {} });

  const tables = (condition: string) =>
    rowsOn<{ name: string }>(
      url,
      `select relname::text as name from pg_class
       where relnamespace = '${schema}'::regnamespace and relkind = 'r' and relname <> 'migrations' and ${condition}
       order by relname`,
    ).then((rows) => rows.map(({ name }) => name));

  async function all(address: string, table: string): Promise<object[] | undefined> {
    try {
      return await rowsOn(address, `select * from ${schema}.${table}`);
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('permission denied')) return undefined;
      throw error;
    }
  }

  return {
    url,
    db,
    logins,
    everythingIn(table, userId) {
      const address = new URL(logins.viewer);
      address.searchParams.set('options', `-c ahs.viewer=${userId} -c ahs.names={${userId}}`);
      return all(address.href, table);
    },
    nothingIn: (table) => all(logins.viewer, table),
    unguarded: () => tables('not (relrowsecurity and relforcerowsecurity)'),
    open: () => tables(`has_any_column_privilege('ahs_${schema}_viewer', oid, 'select')`),
    async [Symbol.asyncDispose]() {
      await db.close();
      await server[Symbol.asyncDispose]();
    },
  };
}
