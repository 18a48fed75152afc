import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Change, Place } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { Lease } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { countOn, openConnection, rowsOn } from '../../support/sql.ts';
import { until } from '../../support/wait.ts';
import { commit, commitFiles } from './commits.ts';
import {
  changesOf,
  type FilesSystem,
  mkdir,
  ofSession,
  openFilesSystem,
  put,
  remove,
  treeOf,
  upload,
  workspace,
  workspaceOf,
  write,
} from './system.ts';

describe.each(TRANSPORTS)('CommitChanges, %s', (transport) => {
  let system: FilesSystem;
  let lease: Lease;
  let place: Place;
  beforeAll(async () => {
    system = await openFilesSystem(transport, {}, { workspaceMaxFiles: 30_000, workspaceMaxBytes: 1_000 });
  });
  afterAll(() => system[Symbol.asyncDispose]());

  /** A workspace at version 1 with one file, and two contents of three bytes. */
  async function begin(): Promise<[string, string]> {
    const sessionId = system.fakes.session();
    lease = system.fakes.lease(sessionId);
    place = ofSession(sessionId);
    await write(system.runner, place, { kept: 'kept' }, { lease });
    const [one, two] = await upload(system.runner, place, ['one', 'two'], {}, lease);
    return [one?.contentId ?? '', two?.contentId ?? ''];
  }

  const rows = (table: string) =>
    countOn(
      system.database.url,
      `select count(*) from files.${table} where workspace_id = '${workspaceOf(lease.sessionId)}'`,
    );

  async function expectUnchanged(): Promise<void> {
    expect(await treeOf(system.edge, place)).toEqual({ kept: 'kept' });
    expect(await workspace(system.edge, place)).toMatchObject({ version: 1, files: 1, lastSeq: 1 });
    expect([await rows('entries'), await rows('changes'), await rows('versions')]).toEqual([1, 1, 1]);
  }

  it('applies all parts as one version', async () => {
    const [one, two] = await begin();
    const parts = [[remove('kept'), mkdir('d')], [put('d/a', one)], [put('d/b', two), put('c', one)]];
    expect(await commit(system, lease, parts, { base: 1 })).toMatchObject({
      workspace: { version: 2, files: 3, bytes: 9, lastSeq: 6 },
      conflicts: [],
      conflictCount: 0,
      replayed: false,
    });
    expect(await treeOf(system.edge, place)).toEqual({ d: '/', 'd/a': 'one', 'd/b': 'two', c: 'one' });
    const feed = (await changesOf(system.edge, place, 1)).map(
      ({ kind, entry, workspaceVersion }) => `${workspaceVersion} ${kind} ${entry?.path}`,
    );
    expect(feed).toEqual(['2 deleted kept', '2 created d', '2 created d/a', '2 created c', '2 created d/b']);
    await until('the events are delivered', () => system.fakes.deliveredEvents(lease.sessionId).length === 5);
  });

  it('lets a later part replace or remove entries of an earlier one', async () => {
    const [one, two] = await begin();
    await commit(system, lease, [
      [put('a', one), put('d/b', one), remove('kept')],
      [put('a', two), remove('d'), put('kept', one)],
      [put('d', two)],
    ]);
    expect(await treeOf(system.edge, place)).toEqual({ a: 'two', d: 'two', kept: 'one' });
    expect(await workspace(system.edge, place)).toMatchObject({ version: 2, files: 3, bytes: 9 });
    expect(await rows('entries')).toBe(4);
  });

  it('returns the first answer to a repeated call with the same key', async () => {
    const [one] = await begin();
    const parts = [[put('a', one)], [put('b', one)]];
    const first = await commit(system, lease, parts, { base: 1, key: 'turn call' });
    const younger = system.fakes.lease(lease.sessionId);
    const again = await commit(system, younger, parts, { base: 1, key: 'turn call' });
    expect(again).toEqual({ ...first, replayed: true });
    await expect(
      commit(system, younger, parts.toReversed(), { base: 1, key: 'turn call' }),
    ).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_CONFLICT' });
  });

  it('keeps a diverted directory together over all parts', async () => {
    const [one, two] = await begin();
    await write(system.edge, place, { d: 'theirs' });
    const parts = [[mkdir('d'), put('d/a', one)], [put('d/b', two)], [put('d.conflict-v1', one)]];
    const { conflicts, conflictCount } = await commit(system, lease, parts, { base: 1 });
    expect({ conflicts, conflictCount }).toEqual({
      conflicts: [{ path: 'd', keptAs: 'd.conflict-v1-2' }],
      conflictCount: 1,
    });
    expect(await treeOf(system.edge, place)).toEqual({
      ...{ kept: 'kept', d: 'theirs', 'd.conflict-v1': 'one' },
      ...{ 'd.conflict-v1-2': '/', 'd.conflict-v1-2/a': 'one', 'd.conflict-v1-2/b': 'two' },
    });
  });

  it('changes nothing when a later part is refused', async () => {
    const [one] = await begin();
    const first = [remove('kept'), put('a', one)];
    const refused = async (last: Change[], code: string) => {
      await expect(commit(system, lease, [first, [put('b', one)], last])).rejects.toMatchObject({ code });
      await expectUnchanged();
    };
    await refused([put('c', 'cnt_00000000000000000000000000')], 'FILE_NOT_FOUND');
    await refused([put('a/b', one)], 'NAME_TAKEN');
    await refused([put('../c', one)], 'INVALID_REQUEST');
    const [large] = await upload(system.runner, place, ['x'.repeat(999)], {}, lease);
    await refused([put('c', large?.contentId ?? '')], 'QUOTA_EXCEEDED');
  });

  it('applies a change whose last part makes it fit into the limits', async () => {
    await begin();
    const [large] = await upload(system.runner, place, ['x'.repeat(999)], {}, lease);
    const { workspace: after } = await commit(system, lease, [
      [put('large', large?.contentId ?? '')],
      [remove('kept')],
    ]);
    expect(after).toMatchObject({ version: 2, files: 1, bytes: 999 });
  });

  it('changes nothing when the stream ends before its last part', async () => {
    const [one] = await begin();
    await expect(commit(system, lease, [[put('a', one)]], { parts: 2 })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
    });
    const leaving = new AbortController();
    const left = commit(system, lease, [[put('a', one)], [put('b', one)]], {
      signal: leaving.signal,
      beforePart: (index) => index === 1 && leaving.abort(),
    });
    await expect(left).rejects.toMatchObject({ code: 'CANCELLED' });
    await expectUnchanged();
  });

  it('changes nothing when the lease is lost between two parts', async () => {
    const [one] = await begin();
    const lost = commit(system, lease, [[put('a', one)], [put('b', one)]], {
      beforePart: async (index) => {
        if (index === 0) return;
        const younger = system.fakes.lease(lease.sessionId);
        await system.runner.attachWorkspace({ place, lease: younger });
      },
    });
    await expect(lost).rejects.toMatchObject({ code: 'LEASE_LOST' });
    await expectUnchanged();
  });

  it('changes nothing when the connection to the database breaks between two parts', async () => {
    const [one, two] = await begin();
    const parts = [[remove('kept'), put('a', one)], [put('b', two)]];
    await using blocker = await openConnection(system.database.url);
    await blocker.query('begin');
    await blocker.query(`select 1 from files.contents where content_id = '${two}' for update`);
    const broken = commit(system, lease, parts, { base: 1, key: 'call' });
    const outcome = expect(broken).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
    await until('the first part is written', async () => {
      const blocked = `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'ahs-files' and wait_event_type = 'Lock'`;
      return (await rowsOn(system.database.url, blocked)).length > 0;
    });
    await outcome;
    await blocker.query('rollback');
    await expectUnchanged();
    const { workspace: after, replayed } = await commit(system, lease, parts, { base: 1, key: 'call' });
    expect({ after, replayed }).toMatchObject({ after: { version: 2, files: 2 }, replayed: false });
  });
});

describe('CommitChanges of 20,001 paths', () => {
  const PATHS = 20_001;

  it('makes one version, or none when the limit is one file lower', async () => {
    await using system = await openFilesSystem('in process', {}, { workspaceMaxFiles: PATHS - 1 });
    const lease = system.fakes.lease(system.fakes.session());
    const place = ofSession(lease.sessionId);
    await expect(commitFiles(system, lease, PATHS)).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
    expect(await workspace(system.edge, place)).toMatchObject({ version: 0, files: 0, lastSeq: 0 });
    expect(await countOn(system.database.url, 'select count(*) from files.entries')).toBe(0);
    const { workspace: after } = await commitFiles(system, lease, PATHS - 1);
    expect(after).toMatchObject({ version: 1, files: PATHS - 1, lastSeq: PATHS - 1 });
  });
});
