import { type Database, openDatabase, type Statement } from '../../lib/db/database.ts';
import { createLogins, type DatabaseLogins } from '../../lib/db/logins.ts';
import { migrate } from '../../lib/db/migrations.ts';
import { sha256 } from '../../lib/digest.ts';
import { createDatabase } from './database.ts';
import { rowsOn } from './sql.ts';

const SECRET = 'the secret from which the passwords of these tests derive';

export const ALICE = 'usr_00000000000000000000000A01';
export const BOB = 'usr_00000000000000000000000B02';

export interface RowLevelSecurityFixture extends AsyncDisposable {
  /** URL of a superuser, who sees all rows. */
  url: string;
  /** The database handle as the service opens it. */
  db: Database;
  logins: DatabaseLogins;
  /** All rows of a table that a user can read; `undefined` without permission on the table or one of the columns. */
  rowsVisibleTo(table: string, userId: string, columns?: string): Promise<object[] | undefined>;
  /** The same for a connection without a user. */
  rowsVisibleWithoutUser(table: string, columns?: string): Promise<object[] | undefined>;
  /** Tables without forced row-level security. */
  tablesWithoutPolicies(): Promise<string[]>;
  /** Tables that the viewer role may read. */
  readableTables(): Promise<string[]>;
}

/** A statement that no service declares. */
export function undeclaredStatement(text: string): Statement {
  return { name: `test.${sha256(text).slice(0, 32)}`, text };
}

/** Opens the schema of a service with its roles and policies, without the access checks of its handlers. */
export async function openRowLevelSecurity(schema: string): Promise<RowLevelSecurityFixture> {
  const server = await createDatabase();
  const { url } = server;
  const directory = new URL(`../../services/${schema}/migrations/`, import.meta.url);
  const logins = await migrate(url, schema, directory, (client) => createLogins(client, url, schema, SECRET));
  if (!logins) throw new Error('the server does not permit logins of services');
  const db = openDatabase({ url, schema, logins, pool: 2, onIdleError: () => {} });

  const tables = (condition: string) =>
    rowsOn<{ name: string }>(
      url,
      `select relname::text as name from pg_class
       where relnamespace = '${schema}'::regnamespace and relkind = 'r' and relname <> 'migrations' and ${condition}
       order by relname`,
    ).then((rows) => rows.map(({ name }) => name));

  async function all(address: string, table: string, columns = '*'): Promise<object[] | undefined> {
    try {
      return await rowsOn(address, `select ${columns} from ${schema}.${table}`);
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('permission denied')) return undefined;
      throw error;
    }
  }

  return {
    url,
    db,
    logins,
    rowsVisibleTo(table, userId, columns) {
      const address = new URL(logins.viewer);
      address.searchParams.set('options', `-c ahs.viewer=${userId} -c ahs.names={${userId}}`);
      return all(address.href, table, columns);
    },
    rowsVisibleWithoutUser: (table, columns) => all(logins.viewer, table, columns),
    tablesWithoutPolicies: () => tables('not (relrowsecurity and relforcerowsecurity)'),
    readableTables: () => tables(`has_any_column_privilege('ahs_${schema}_viewer', oid, 'select')`),
    async [Symbol.asyncDispose]() {
      await db.close();
      await server[Symbol.asyncDispose]();
    },
  };
}
