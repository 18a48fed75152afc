import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../lib/clock.ts';
import { type Database, openDatabase, statement } from '../../../lib/db/database.ts';
import { databaseRefusal } from '../../../lib/db/failure.ts';
import { createLogins, type DatabaseLogins } from '../../../lib/db/logins.ts';
import { migrate } from '../../../lib/db/migrations.ts';
import { ERRORS } from '../../../lib/error-codes.ts';
import { Refusal } from '../../../lib/errors.ts';
import { createEmptyDatabase } from '../../support/database.ts';
import { openPostgresProxy, type PostgresProxy } from '../../support/postgres-proxy.ts';
import { countOn } from '../../support/sql.ts';
import { until } from '../../support/wait.ts';

type Expected = [state: string, code: string, connection: 'kept' | 'dropped'];

/** One state of each entry of the table, and one without an entry. */
const REPRESENTATIVES: Expected[] = [
  ['08006', 'DEPENDENCY_UNAVAILABLE', 'dropped'],
  ['25006', 'DEPENDENCY_UNAVAILABLE', 'dropped'],
  ['40001', 'DEPENDENCY_UNAVAILABLE', 'kept'],
  ['53100', 'STORAGE_FULL', 'kept'],
  ['53200', 'DEPENDENCY_UNAVAILABLE', 'kept'],
  ['53300', 'DEPENDENCY_UNAVAILABLE', 'dropped'],
  ['55P03', 'DEPENDENCY_UNAVAILABLE', 'kept'],
  ['57014', 'DEADLINE_EXCEEDED', 'kept'],
  ['57P01', 'DEPENDENCY_UNAVAILABLE', 'dropped'],
  ['58030', 'DEPENDENCY_UNAVAILABLE', 'dropped'],
  ['22021', 'INVALID_TEXT', 'kept'],
  ['42P01', 'INTERNAL', 'kept'],
];

const OTHERS: Expected[] = [
  ['08000', 'DEPENDENCY_UNAVAILABLE', 'dropped'],
  ['08003', 'DEPENDENCY_UNAVAILABLE', 'dropped'],
  ['08P01', 'DEPENDENCY_UNAVAILABLE', 'dropped'],
  ['25P03', 'DEPENDENCY_UNAVAILABLE', 'dropped'],
  ['25P04', 'DEPENDENCY_UNAVAILABLE', 'dropped'],
  ['40P01', 'DEPENDENCY_UNAVAILABLE', 'kept'],
  ['53000', 'DEPENDENCY_UNAVAILABLE', 'kept'],
  ['57P02', 'DEPENDENCY_UNAVAILABLE', 'dropped'],
  ['57P03', 'DEPENDENCY_UNAVAILABLE', 'dropped'],
  ['57P04', 'DEPENDENCY_UNAVAILABLE', 'dropped'],
  ['57P05', 'DEPENDENCY_UNAVAILABLE', 'dropped'],
  ['58000', 'DEPENDENCY_UNAVAILABLE', 'dropped'],
  ['XX000', 'INTERNAL', 'kept'],
];

const MIGRATIONS = new URL('../../../services/auth/migrations/', import.meta.url);
const READ = statement('test.failure.read', 'select 1 as value');
const WRITE = statement(
  'test.failure.write',
  `insert into users (user_id, display_name, roles) values ($1, 'Test User', '{}')`,
);

/** Timers are due at once. */
const immediateClock: Clock = {
  now: () => new Date(),
  after(_, callback) {
    const timer = setImmediate(callback);
    return () => clearImmediate(timer);
  },
};

/** Returns the code of the response to an error. */
function codeOf(error: unknown): string {
  return error instanceof Refusal ? error.code : 'INTERNAL';
}

describe('a failure of the database', () => {
  const opened = new AsyncDisposableStack();
  let serverUrl: string;
  let proxy: PostgresProxy;
  let logins: DatabaseLogins | undefined;
  let database: Database;
  let newestUser = 0;

  beforeAll(async () => {
    serverUrl = opened.use(await createEmptyDatabase()).url;
    proxy = opened.use(await openPostgresProxy(serverUrl));
    logins = await migrate(proxy.url, 'auth', MIGRATIONS, (client) =>
      createLogins(client, proxy.url, 'auth', 'a service secret for tests that is long enough'),
    );
    database = open();
    opened.defer(() => database.close());
  });
  afterAll(() => opened.disposeAsync());
  afterEach(() => proxy.clear());

  function open(options: { answerTimeoutMs?: number } = {}): Database {
    return openDatabase({
      url: proxy.url,
      logins,
      schema: 'auth',
      pool: 2,
      onIdleError: () => {},
      clock: immediateClock,
      ...options,
    });
  }

  const newUser = () => `usr_${newestUser++}`;
  const usersNamed = (id: string) =>
    countOn(serverUrl, `select count(*) from auth.users where user_id = '${id}'`);

  /** The kinds of work, each with the statement that fails. */
  const WORK: [kind: string, failing: string, work: () => Promise<unknown>][] = [
    ['a statement', READ.name, () => database.rows(READ)],
    [
      'a cancellable statement',
      READ.name,
      () => database.rows(READ, [], { signal: new AbortController().signal }),
    ],
    [
      'a statement for a viewer',
      'db.viewer',
      () => database.rows(READ, [], { viewer: { userId: `usr_viewer_${newUser()}` } }),
    ],
    ['the begin of a transaction', 'begin', () => database.transaction(async (tx) => tx.rows(READ))],
    ['a statement in a transaction', READ.name, () => database.transaction((tx) => tx.rows(READ))],
    [
      'the commit of a transaction',
      'commit',
      () => database.transaction((tx) => tx.change(WRITE, [newUser()])),
    ],
  ];

  const CASES = [
    ...REPRESENTATIVES.flatMap((expected) => WORK.map((work) => [...expected, ...work] as const)),
    ...OTHERS.flatMap((expected) => WORK.slice(0, 1).map((work) => [...expected, ...work] as const)),
  ];

  it.each(CASES)(
    'SQLSTATE %s causes %s and a %s connection in %s',
    async (state, code, connection, _, failing, work) => {
      await database.rows(READ);
      proxy.inject({ state, matches: ({ name }) => name === failing });
      const error = await work().then(
        () => undefined,
        (caught: unknown) => caught,
      );
      expect(codeOf(error)).toBe(code);
      if (error instanceof Refusal) {
        expect(error.retryAfterSeconds).toBe(ERRORS[error.code].status === 503 ? 1 : undefined);
      }
      proxy.clear();
      await work();
      const isRepeated = state === '40001' || state === '40P01';
      expect(proxy.failures).toHaveLength(isRepeated ? 4 : 1);
      for (const failure of proxy.failures) {
        if (connection === 'dropped') await until('the connection is closed', () => failure.isDropped);
        expect(failure.isDropped).toBe(connection === 'dropped');
        if (connection === 'dropped') expect(failure.later).toEqual([]);
        else expect(failure.later).not.toEqual([]);
      }
    },
  );

  it.each(['40001', '40P01'])(
    'repeats a transaction with SQLSTATE %s, and commits it once',
    async (state) => {
      for (const failing of ['begin', WRITE.name, 'commit']) {
        proxy.inject({ state, matches: ({ name }) => name === failing, times: 3 });
        const user = newUser();
        await database.transaction((tx) => tx.change(WRITE, [user]));
        expect(await usersNamed(user)).toBe(1);
      }
    },
  );

  it('does not repeat a commit whose answer was lost, because it may have succeeded', async () => {
    for (const state of [undefined, '57P01']) {
      const user = newUser();
      proxy.inject({ state, isPerformed: true, matches: ({ name }) => name === 'commit' });
      const work = database.transaction((tx) => tx.change(WRITE, [user]));
      await expect(work).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
      expect(proxy.failures).toHaveLength(1);
      expect(await usersNamed(user)).toBe(1);
      proxy.clear();
      await database.rows(READ);
    }
  });

  it('refuses a transaction whose failed statement was ignored, instead of reporting its commit', async () => {
    const user = newUser();
    proxy.inject({ state: '53100', matches: ({ name }) => name === READ.name });
    const work = database.transaction(async (tx) => {
      await tx.change(WRITE, [user]);
      await tx.rows(READ).catch(() => {});
    });
    await expect(work).rejects.toThrow('was ignored');
    expect(await usersNamed(user)).toBe(0);
  });

  it('drops every connection when one shows that the server is read-only', async () => {
    await Promise.all([
      database.transaction((tx) => tx.rows(READ)),
      database.transaction((tx) => tx.rows(READ)),
    ]);
    const backends = () =>
      countOn(
        serverUrl,
        `select count(*) from pg_stat_activity where datname = current_database() and application_name = 'ahs-auth'`,
      );
    expect(await backends()).toBe(2);
    proxy.inject({ state: '25006', matches: ({ name }) => name === WRITE.name, times: 1 });
    await expect(database.change(WRITE, [newUser()])).rejects.toMatchObject({
      code: 'DEPENDENCY_UNAVAILABLE',
      message: 'The database is read-only and accepts no writes.',
    });
    await database.rows(READ);
    await until('only the new connection is left', async () => (await backends()) === 1);
  });

  it.each(['53300', '57P03', '28P01', '3D000'])(
    'refuses with DEPENDENCY_UNAVAILABLE when new connections are rejected with SQLSTATE %s',
    async (state) => {
      proxy.cut();
      proxy.rejectConnections(state);
      await until('the connections are closed', async () => {
        const error = await database.rows(READ).catch((caught: unknown) => caught);
        expect(error).toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE', retryAfterSeconds: 1 });
        return (
          (error as Refusal).message !==
          'The connection to the database was lost. The operation may have been performed.'
        );
      });
      proxy.clear();
      await database.rows(READ);
    },
  );

  it('refuses with DEPENDENCY_UNAVAILABLE when a connection is reset during a statement', async () => {
    const slow = statement('test.failure.slow', 'select pg_sleep(30)');
    const waiting = database.transaction((tx) => tx.rows(slow));
    waiting.catch(() => {});
    await until('the statement runs', () => proxy.statements.some(({ name }) => name === slow.name));
    proxy.cut();
    await expect(waiting).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE', retryAfterSeconds: 1 });
    await database.rows(READ);
  });

  it('refuses with DEADLINE_EXCEEDED when the server stops to respond, and connects again', async () => {
    const impatient = open({ answerTimeoutMs: 200 });
    try {
      const slow = statement('test.failure.silent', 'select pg_sleep(1)');
      const work = impatient.transaction((tx) => tx.rows(slow));
      await expect(work).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
      // The server may need longer for an answer than this client waits.
      const connects = () =>
        impatient.rows(READ).then(
          () => true,
          () => false,
        );
      await until('the client has connected again', connects);
    } finally {
      await impatient.close();
    }
  });

  it('refuses with CANCELLED when a statement is cancelled because the caller has left', async () => {
    const leaving = new AbortController();
    const slow = statement('test.failure.cancelled', 'select pg_sleep(30)');
    const waiting = database.rows(slow, [], { signal: leaving.signal });
    waiting.catch(() => {});
    await until('the statement runs', () => proxy.statements.some(({ name }) => name === slow.name));
    leaving.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'CANCELLED' });
  });

  it('is no refusal when the error has another source', () => {
    const bug = new TypeError('undefined is not a function');
    expect(databaseRefusal(bug)).toBe(bug);
  });
});
