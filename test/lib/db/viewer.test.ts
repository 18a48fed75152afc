import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Database, openDatabase, statement, type Viewer } from '../../../lib/db/database.ts';
import { createLogins, type DatabaseLogins } from '../../../lib/db/logins.ts';
import { migrate } from '../../../lib/db/migrations.ts';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.ts';
import { scratch } from '../../support/scratch.ts';
import { countOn, rowsOn, runOn } from '../../support/sql.ts';
import { until } from '../../support/wait.ts';

const MIGRATION = `
  create table things (owner text not null, thing text not null, shared_with text, primary key (owner, thing));
  alter table things enable row level security, force row level security;
  create policy of_the_service on things to ahs_viewer_test using (true);
  create policy of_their_owner on things to ahs_viewer_test_viewer
    using (owner = (select current_setting('ahs.viewer', true))
      or shared_with = any ((select current_setting('ahs.names', true))::text[]))
    with check (owner = (select current_setting('ahs.viewer', true)));
  grant select, insert, update, delete on things to ahs_viewer_test_viewer;`;

const ALL = statement('viewer_test.all', 'select owner, thing from things order by owner, thing');
const SLOW = statement('viewer_test.slow', 'select owner, thing, pg_sleep(30) from things');
const BROKEN = statement('viewer_test.broken', 'select 1 / (length(owner) - length(owner)) from things');
const INSERT = statement('viewer_test.insert', 'insert into things (owner, thing) values ($1, $2)');
const UPDATE = statement('viewer_test.update', `update things set thing = thing || '!'`);
const DELETE = statement('viewer_test.delete', 'delete from things');
const BACKEND = statement('viewer_test.backend', 'select pg_backend_pid() as pid');

const alice = { userId: 'usr_alice' };
const bob = { userId: 'usr_bob' };

describe('statements on behalf of a viewer', () => {
  let server: TestDatabase;
  let logins: DatabaseLogins | undefined;
  let db: Database;
  let directory: string;
  beforeAll(async () => {
    server = await createEmptyDatabase();
    directory = await mkdtemp(join(scratch(), 'ahs-viewer_test-'));
    await writeFile(join(directory, '0001-create-things.sql'), MIGRATION);
    logins = await migrate(server.url, 'viewer_test', pathToFileURL(`${directory}/`), (client) =>
      createLogins(client, server.url, 'viewer_test', 'a secret of this test'),
    );
    db = open(2);
  });
  afterAll(async () => {
    await db?.close();
    await server?.[Symbol.asyncDispose]();
    if (directory) await rm(directory, { recursive: true });
  });
  beforeEach(() =>
    runOn(
      server.url,
      `truncate viewer_test.things; insert into viewer_test.things
       values ('usr_alice', 'a1', null), ('usr_alice', 'a2', null), ('usr_bob', 'b1', null), ('usr_carol', 'c1', 'group:crew')`,
    ),
  );

  const open = (pool: number, more: object = {}) =>
    openDatabase({ url: server.url, schema: 'viewer_test', logins, pool, onIdleError: () => {}, ...more });

  async function seenBy(viewer: Viewer | undefined, database = db): Promise<string[]> {
    const rows = await database.rows<{ thing: string }>(ALL, [], { viewer });
    return rows.map(({ thing }) => thing);
  }

  it("return only the viewer's rows, also without a condition", async () => {
    expect(await seenBy(alice)).toEqual(['a1', 'a2']);
    expect(await seenBy(bob)).toEqual(['b1']);
    expect(await seenBy({ ...bob, names: ['group:crew'] })).toEqual(['b1', 'c1']);
    expect(await seenBy(bob)).toEqual(['b1']);
    expect(await seenBy({ userId: 'usr_nobody' })).toEqual([]);
    expect(await seenBy(undefined)).toEqual(['a1', 'a2', 'b1', 'c1']);
  });

  it("change only the viewer's rows", async () => {
    expect(await db.change(UPDATE, [], { viewer: bob })).toBe(1);
    expect(await seenBy(undefined)).toEqual(['a1', 'a2', 'b1!', 'c1']);
    expect(await db.change(DELETE, [], { viewer: bob })).toBe(1);
    expect(await seenBy(undefined)).toEqual(['a1', 'a2', 'c1']);
    await expect(db.change(INSERT, ['usr_alice', 'a3'], { viewer: bob })).rejects.toThrow(
      'row-level security',
    );
  });

  it('match names literally', async () => {
    for (const userId of [`usr'; drop table things; --`, '{"usr_alice"}', '', '*', '"', '\\', 'ü,{}']) {
      expect(await seenBy({ userId, names: ['group:{crew}', userId] })).toEqual([]);
    }
    expect(await seenBy({ userId: 'usr_x', names: ['a,b', '"', '\\', 'group:crew'] })).toEqual(['c1']);
  });

  it('return no rows on a connection without a viewer', async () => {
    const rows = await rowsOn(logins?.viewer ?? '', 'select * from viewer_test.things');
    expect(rows).toEqual([]);
  });

  it('keep the viewer in transactions that commit or roll back', async () => {
    const readRows = (viewer: Viewer, fails: boolean) =>
      db.transaction(
        async (tx) => {
          const rows = await tx.rows<{ owner: string }>(ALL);
          expect(new Set(rows.map(({ owner }) => owner))).toEqual(new Set([viewer.userId]));
          if (fails) throw new Error('undone');
        },
        { viewer },
      );
    for (let round = 0; round < 4; round++) {
      await readRows(alice, false);
      await expect(readRows(bob, true)).rejects.toThrow('undone');
      expect(await seenBy(alice)).toEqual(['a1', 'a2']);
      expect(await seenBy(bob)).toEqual(['b1']);
      await readRows(bob, false);
    }
  });

  it('keep the viewer when other statements fail, are cancelled or lose their connection', async () => {
    await using one = Object.assign(open(1), { [Symbol.asyncDispose]: () => one.close() });
    const running = `select coalesce(min(pid), 0) as count from pg_stat_activity
      where query = '${SLOW.text}' and state = 'active'`;
    for (let round = 0; round < 3; round++) {
      await expect(one.rows(BROKEN, [], { viewer: alice })).rejects.toThrow('division by zero');
      expect(await seenBy(bob, one)).toEqual(['b1']);

      const leaving = new AbortController();
      const cancelled = one.rows(SLOW, [], { viewer: alice, signal: leaving.signal });
      cancelled.catch(() => {});
      await until('the statement runs', async () => (await countOn(server.url, running)) > 0);
      leaving.abort();
      await expect(cancelled).rejects.toMatchObject({ code: 'CANCELLED' });
      expect(await seenBy(bob, one)).toEqual(['b1']);

      await expect(one.rows(ALL, [], { viewer: alice, signal: AbortSignal.abort() })).rejects.toMatchObject({
        code: 'CANCELLED',
      });
      expect(await seenBy(bob, one)).toEqual(['b1']);

      const lost = one.rows(SLOW, [], { viewer: alice });
      lost.catch(() => {});
      const pid = await until(
        'the statement runs',
        async () => (await countOn(server.url, running)) || undefined,
      );
      await runOn(server.url, `select pg_terminate_backend(${pid})`);
      await expect(lost).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
      expect(await seenBy(bob, one)).toEqual(['b1']);
    }
  });

  it('keep the viewer when setting the viewer of a connection fails', async () => {
    await using one = Object.assign(open(1), { [Symbol.asyncDispose]: () => one.close() });
    const [backend] = await one.rows<{ pid: number }>(BACKEND, [], { viewer: alice });
    await runOn(server.url, `select pg_terminate_backend(${backend?.pid})`);
    const outcomes = await Promise.allSettled([seenBy(bob, one), seenBy(alice, one), seenBy(bob, one)]);
    const [first, second, third] = outcomes.map((one) =>
      one.status === 'fulfilled' ? one.value : undefined,
    );
    for (const own of [first, third]) expect([undefined, ['b1']]).toContainEqual(own);
    expect([undefined, ['a1', 'a2']]).toContainEqual(second);
    // A text that no setting can store.
    await expect(seenBy({ userId: 'usr_\0' }, one)).rejects.toMatchObject({ code: 'INVALID_TEXT' });
    expect(await seenBy(bob, one)).toEqual(['b1']);
  });

  it('never return rows of another viewer under concurrency', async () => {
    const users = Array.from({ length: 12 }, (_, index) => `usr_${index}`);
    await runOn(
      server.url,
      `insert into viewer_test.things select 'usr_' || u, 't' || t from generate_series(0, 11) u, generate_series(1, 5) t`,
    );
    await using busy = Object.assign(open(6), { [Symbol.asyncDispose]: () => busy.close() });
    const mistakes: unknown[] = [];
    const check = (userId: string, rows: readonly { owner: string }[]) => {
      if (rows.length !== 5 || rows.some(({ owner }) => owner !== userId)) mistakes.push({ userId, rows });
    };
    async function runStatement(userId: string, turn: number): Promise<void> {
      const viewer = { userId };
      if (turn % 5 === 0) {
        const leaving = new AbortController();
        const work = busy.rows<{ owner: string }>(ALL, [], { viewer, signal: leaving.signal });
        setImmediate(() => leaving.abort());
        check(userId, await work.catch(() => Array.from({ length: 5 }, () => ({ owner: userId }))));
      } else if (turn % 5 === 1) {
        await busy.rows(BROKEN, [], { viewer }).catch(() => {});
      } else if (turn % 5 === 2) {
        await busy
          .transaction(
            async (tx) => {
              check(userId, await tx.rows<{ owner: string }>(ALL));
              if (turn % 2 === 0) throw new Error('undone');
            },
            { viewer },
          )
          .catch(() => {});
      } else check(userId, await busy.rows<{ owner: string }>(ALL, [], { viewer }));
    }
    await Promise.all(
      users.map(async (userId, index) => {
        for (let turn = 0; turn < 100; turn++) await runStatement(userId, turn + index);
      }),
    );
    expect(mistakes).toEqual([]);
    expect((await busy.rows(ALL)).length).toBe(64);
  });

  it('set the viewer once while a connection keeps the same viewer', async () => {
    await using one = Object.assign(open(1), { [Symbol.asyncDispose]: () => one.close() });
    const WHEN = statement(
      'viewer_test.prepared',
      `select coalesce(sum(generic_plans + custom_plans), 0) as runs from pg_prepared_statements where name = 'db.viewer'`,
    );
    const runs = async (viewer: Viewer) =>
      Number((await one.rows<{ runs: string }>(WHEN, [], { viewer }))[0]?.runs);
    expect(await runs(alice)).toBe(1);
    for (let turn = 0; turn < 5; turn++) expect(await runs(alice)).toBe(1);
    expect(await runs(bob)).toBe(2);
  });

  it('run as the service in single-user mode', async () => {
    await using alone = Object.assign(open(1, { singleUser: true }), {
      [Symbol.asyncDispose]: () => alone.close(),
    });
    expect(await seenBy(bob, alone)).toEqual(['a1', 'a2', 'b1', 'c1']);
  });

  it('are separated when the services share a login', async () => {
    await runOn(server.url, 'grant usage on schema viewer_test to ahs_viewer_test, ahs_viewer_test_viewer');
    await using sharing = Object.assign(open(2, { logins: undefined }), {
      [Symbol.asyncDispose]: () => sharing.close(),
    });
    expect(await seenBy(bob, sharing)).toEqual(['b1']);
    expect(await seenBy(alice, sharing)).toEqual(['a1', 'a2']);
    expect((await seenBy(undefined, sharing)).length).toBe(4);
  });
});
