import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, statement } from '../../../lib/db/database.ts';
import { startPostgres } from '../../../lib/db/embedded.ts';
import { createLogins, type DatabaseLogins } from '../../../lib/db/logins.ts';
import { migrate } from '../../../lib/db/migrations.ts';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.ts';
import { scratch } from '../../support/scratch.ts';
import { countOn, rowsOn, runOn } from '../../support/sql.ts';
import { until } from '../../support/wait.ts';

const SECRET = 'what the passwords of this test follow from';
const SCHEMAS = ['auth', 'deployments'] as const;

const migrationsOf = (schema: string) => new URL(`../../../services/${schema}/migrations/`, import.meta.url);

function enter(url: string, schema: string, secret = SECRET): Promise<DatabaseLogins | undefined> {
  return migrate(url, schema, migrationsOf(schema), (client) => createLogins(client, url, schema, secret));
}

/** Returns the error message of a statement; empty when it succeeds. */
async function refusalOf(url: string, sql: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    await client.query(sql);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await client.end();
  }
}

describe('login roles of a service', () => {
  let server: TestDatabase;
  let logins: DatabaseLogins;
  beforeAll(async () => {
    server = await createEmptyDatabase();
    for (const schema of SCHEMAS) {
      const databaseLogins = await enter(server.url, schema);
      if (databaseLogins && schema === 'deployments') logins = databaseLogins;
    }
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  it('own nothing', async () => {
    const owned = await countOn(
      server.url,
      `select count(*) from pg_shdepend d join pg_roles r on r.oid = d.refobjid
       where d.deptype = 'o' and r.rolname like 'ahs\\_%'`,
    );
    expect(owned).toBe(0);
  });

  it('have no role attribute besides login', async () => {
    const user = new URL(logins.service).searchParams.get('user');
    const [role] = await rowsOn(server.url, `select * from pg_roles where rolname = '${user}'`);
    expect(role).toMatchObject({
      rolsuper: false,
      rolcreaterole: false,
      rolcreatedb: false,
      rolreplication: false,
      rolbypassrls: false,
      rolcanlogin: true,
    });
  });

  it.each([
    ['read tables of another service', 'select * from auth.users'],
    ['read the list of migrations', 'select * from deployments.migrations'],
    ['create tables in their schema', 'create table deployments.mine (one integer)'],
    ['create tables in another schema', 'create table public.mine (one integer)'],
    ['create schemas', 'create schema mine'],
    ['change tables', 'alter table deployments.deployments add column more text'],
    ['drop tables', 'drop table deployments.deployments'],
    ['disable row-level security', 'alter table deployments.deployments disable row level security'],
    ['truncate tables', 'truncate deployments.deployments cascade'],
    ['create roles', 'create role mine'],
    ['switch to the role whose privileges they inherit', 'set role ahs_deployments'],
    ['switch to the role of another service', 'set role ahs_auth'],
    ['log in as another service', 'set session authorization ahs_auth'],
    ['run programs', `copy (select 1) to program 'true'`],
    ['read files', `select pg_read_file('/etc/hosts')`],
  ])('may not %s', async (_, sql) => {
    for (const url of [logins.service, logins.viewer])
      expect(await refusalOf(url, sql)).toMatch(/permission denied|must be owner/);
  });

  it('keep their identity after RESET ROLE', async () => {
    const client = new pg.Client({ connectionString: logins.service });
    await client.connect();
    const who = async () => (await client.query('select current_user, session_user')).rows[0];
    const before = await who();
    expect(before.current_user).toBe(before.session_user);
    for (const sql of ['reset role', 'set role none', 'reset session authorization', 'discard all']) {
      await client.query(sql);
      expect(await who()).toEqual(before);
    }
    await client.end();
  });

  it('have no access to another database of the same server', async () => {
    await using other = await createEmptyDatabase();
    await enter(other.url, 'deployments');
    const there = Object.assign(new URL(logins.service), { pathname: new URL(other.url).pathname });
    expect(await refusalOf(there.href, 'select * from deployments.deployments')).toMatch(
      'permission denied for schema',
    );
  });

  it('cancel their own statements', async () => {
    const database = openDatabase({
      url: server.url,
      schema: 'deployments',
      logins,
      pool: 1,
      onIdleError: () => {},
    });
    const slow = statement('test.slow_login', 'select pg_sleep(30) as slow_login');
    const running = `select count(*) from pg_stat_activity where query = '${slow.text}' and state = 'active'`;
    for (const viewer of [undefined, { userId: 'usr_a' }]) {
      const leaving = new AbortController();
      const waiting = database.rows(slow, [], { signal: leaving.signal, viewer });
      waiting.catch(() => {});
      await until('the statement runs', async () => (await countOn(server.url, running)) === 1);
      leaving.abort();
      await expect(waiting).rejects.toMatchObject({ code: 'CANCELLED' });
      await until('the statement has ended', async () => (await countOn(server.url, running)) === 0);
    }
    await database.close();
  });

  it('get new passwords only when the secret changes', async () => {
    await using own = await createEmptyDatabase();
    const first = await enter(own.url, 'auth');
    const again = await enter(own.url, 'auth');
    expect(again).toEqual(first);
    const next = await enter(own.url, 'auth', 'another secret of all services');
    expect(await refusalOf(first?.service ?? '', 'select 1')).toMatch('password authentication failed');
    expect(await refusalOf(next?.service ?? '', 'select 1')).toBe('');
    expect(await refusalOf(next?.viewer ?? '', 'select 1')).toBe('');
  });

  it('are created once by processes that start together', async () => {
    await using own = await createEmptyDatabase();
    const all = await Promise.all(Array.from({ length: 6 }, () => enter(own.url, 'auth')));
    for (const one of all) expect(one).toEqual(all[0]);
    expect(await refusalOf(all[0]?.service ?? '', 'select 1')).toBe('');
  });

  it('work with a login without CREATEROLE when they already exist', async () => {
    await using own = await createEmptyDatabase();
    const { host, pathname } = new URL(own.url);
    const name = `tenant_of${pathname.slice(1)}`;
    await runOn(own.url, `create role ${name} login createrole password 'words'`);
    await runOn(own.url, `grant create on database ${pathname.slice(1)} to ${name}`);
    for (const kind of ['', '_viewer'])
      await runOn(
        own.url,
        `do $$ begin
        if not exists (select from pg_roles where rolname = 'ahs_auth${kind}') then create role ahs_auth${kind}; end if;
      end $$; grant ahs_auth${kind} to ${name} with admin option`,
      );
    const url = `postgres://${name}:words@${host}${pathname}`;
    const firstLogins = await enter(url, 'auth');
    await runOn(own.url, `alter role ${name} nocreaterole`);
    expect(await enter(url, 'auth')).toEqual(firstLogins);
    await expect(enter(url, 'auth', 'another secret of all services')).rejects.toMatchObject({
      code: '42501',
    });
  });
});

describe('a server with several installations that start at once', () => {
  it('has the roles of all installations', async () => {
    const directory = await mkdtemp(join(scratch(), 'ahs-many-'));
    await using stack = new AsyncDisposableStack();
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    const none = pathToFileURL(`${directory}/`);
    const databases = await Promise.all(Array.from({ length: 12 }, () => createEmptyDatabase()));
    for (const one of databases) stack.use(one);
    for (let round = 0; round < 5; round++) {
      const schema = `many_${round}`;
      const begin = ({ url }: TestDatabase) =>
        migrate(url, schema, none, (client) => createLogins(client, url, schema, SECRET));
      await Promise.all(databases.map(begin));
    }
  });
});

describe('a server with a socket URL', () => {
  it('accepts the logins of a service at the socket', async () => {
    const directory = await mkdtemp(join(scratch(), 'ahs-sock-'));
    await using removal = new AsyncDisposableStack();
    removal.defer(() => rm(directory, { recursive: true, force: true }));
    const sockets = join(directory, 'sockets');
    await mkdir(sockets);
    await chmod(sockets, 0o777);
    await chmod(directory, 0o755);
    await using server = await startPostgres({
      directory: join(directory, 'postgres'),
      settings: { fsync: 'off', unix_socket_directories: sockets },
      log: () => {},
    });
    const { username, password, port } = new URL(server.url);
    const place = encodeURIComponent(sockets);
    for (const url of [
      `postgres://${username}:${password}@${place}:${port}/postgres?sslmode=disable`,
      `postgres:///postgres?host=${place}&port=${port}&user=${username}&password=${password}`,
    ]) {
      const logins = await enter(url, 'auth');
      const client = new pg.Client({ connectionString: logins?.service });
      await client.connect();
      const { rows } = await client.query('select session_user::text as who, inet_client_addr() as address');
      await client.end();
      expect(rows).toEqual([{ who: expect.stringMatching(/^ahs_auth_\d+$/), address: null }]);
    }
  });
});

describe('a server that rejects the logins of services', () => {
  it('is used with the login of the URL, which switches to the same roles', async () => {
    await using own = await createEmptyDatabase();
    // An expired password is rejected like a login method that the server does not support.
    const logins = await migrate(own.url, 'auth', migrationsOf('auth'), async (client) => {
      await createLogins(client, own.url, 'auth', SECRET);
      const { rows } = await client.query(
        `select rolname from pg_roles where rolname like 'ahs\\_auth\\_%' and rolcanlogin
         and rolname like '%\\_' || (select oid from pg_database where datname = current_database())`,
      );
      for (const { rolname } of rows) await client.query(`alter role ${rolname} valid until '2000-01-01'`);
      return createLogins(client, own.url, 'auth', SECRET);
    });
    expect(logins).toBeUndefined();
    const database = openDatabase({ url: own.url, schema: 'auth', pool: 2, onIdleError: () => {} });
    const WHO = statement('test.who', 'select current_user::text as name');
    expect(await database.rows(WHO)).toEqual([{ name: 'ahs_auth' }]);
    const viewer = { userId: 'usr_a' };
    expect(await database.rows(WHO, [], { viewer })).toEqual([{ name: 'ahs_auth_viewer' }]);
    await database.close();
  });
});
