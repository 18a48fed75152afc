import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Blobs } from '../../../lib/blobs/blobs.ts';
import { refuse } from '../../../lib/errors.ts';
import { createLog } from '../../../lib/log.ts';
import type { PutSkillTreeRequest } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { FilesConfig } from '../../../services/files/config.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { countOn, rowsOn, runOn } from '../../support/sql.ts';
import { advanceUntil, until } from '../../support/wait.ts';
import {
  change,
  changesOf,
  type FilesSystem,
  MIB,
  mkdir,
  OWNER,
  ofAssistant,
  ofSession,
  openFilesSystem,
  openReplica,
  put,
  readText,
  remove,
  treeOf,
  upload,
  WorkspaceCopy,
  workspace,
  write,
} from './system.ts';

const MINUTE_MS = 60 * 1_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Each step runs every due sweep once. */
const STEP_MS = 4 * HOUR_MS;
const caller = OWNER;

describe('the garbage collection', () => {
  let system: FilesSystem;
  let clock: FakeClock;
  /** The number of timers while no background task runs. */
  let idleTimers = 0;
  afterEach(() => system[Symbol.asyncDispose]());

  /** Objects with the age of the fake clock instead of the file system. */
  function timed(blobs: Blobs): Blobs {
    const written = new Map<string, Date>();
    return {
      ...blobs,
      async write(...args) {
        const startedAt = clock.now();
        const stored = await blobs.write(...args);
        written.set(stored.key, startedAt);
        return stored;
      },
      async *list(after) {
        for await (const one of blobs.list(after)) {
          const writtenAt = written.get(one.key);
          if (writtenAt) yield { ...one, writtenAt };
        }
      },
      deleteIncompleteWrites: async () => 0,
    };
  }

  async function open(config: Partial<FilesConfig> = {}, wrap = (blobs: Blobs) => blobs): Promise<void> {
    clock = createFakeClock();
    system = await openFilesSystem(
      'in process',
      { clock, log: createLog({ level: 'silent' }), observe: () => {} },
      config,
      (blobs) => wrap(timed(blobs)),
    );
    idleTimers = clock.pending;
  }

  const count = (table: string, where = 'true') =>
    countOn(system.database.url, `select count(*) from files.${table} where ${where}`);
  const objects = async () => (await Array.fromAsync(system.blobs.list())).length;
  const newPlace = () => ofSession(system.fakes.session());

  /** Advances the clock and waits for the sweeps that become due, so that the clock never advances during a sweep. */
  async function step(ms: number): Promise<void> {
    clock.advance(ms);
    await until('no background task runs', () => clock.pending >= idleTimers);
  }

  /** Advances the clock in steps, so that the sweeper removes everything that is due. */
  async function pass(ms: number): Promise<void> {
    const length = Math.max(STEP_MS, ms / 8);
    for (let elapsed = 0; elapsed < ms; elapsed += length) await step(Math.min(length, ms - elapsed));
  }

  async function passUntil(what: string, isSo: () => Promise<boolean>, stepMs = STEP_MS): Promise<void> {
    await until('no background task runs', () => clock.pending >= idleTimers);
    await until(what, async () => {
      if (await isSo()) return true;
      await step(stepMs);
      return false;
    });
  }

  it('removes uploaded bytes that no change names after the grace period', async () => {
    await open();
    const place = newPlace();
    const [content] = await upload(system.edge, place, ['never named', 'x'.repeat(MIB)]);
    await write(system.edge, place, { a: 'named' });
    await pass(20 * HOUR_MS);
    expect(await objects()).toBe(3);
    // The row of a content is deleted after its object.
    await passUntil('the contents are removed', async () => (await count('contents')) === 1);
    expect(await objects()).toBe(1);
    expect(await readText(system.edge, place, 'a')).toBe('named');
    const late = change(system.edge, place, [put('late', content!.contentId)]);
    await expect(late).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
  });

  it('removes the bytes of a skill whose upload was aborted after the grace period', async () => {
    await open();
    const mistake = new Error('the archive could not be read');
    const tree = { skillId: system.context.ids('skl'), workspaceId: system.context.ids('wsp') };
    const sent = (async function* (): AsyncGenerator<PutSkillTreeRequest> {
      yield { kind: { $case: 'tree', value: tree } };
      yield { kind: { $case: 'file', value: { path: 'SKILL.md', size: MIB, executable: false } } };
      yield { kind: { $case: 'bytes', value: Buffer.alloc(MIB, 'x') } };
      yield { kind: { $case: 'file', value: { path: 'late', size: 1, executable: false } } };
      await until('the first file is stored', async () => (await count('contents')) === 1);
      throw mistake;
    })();
    await expect(system.agents.putSkillTree(sent)).rejects.toBe(mistake);
    expect(await count('workspaces')).toBe(0);
    await passUntil('the content is removed', async () => (await count('contents')) === 0);
    expect(await objects()).toBe(0);
  });

  it('keeps bytes that are named or uploaded again within the grace period', async () => {
    await open();
    const place = newPlace();
    const [named, again] = await upload(system.edge, place, ['named late', 'uploaded again', 'forgotten']);
    await passUntil(
      'the contents are marked as unreferenced',
      async () => (await count('contents', 'doomed_at is not null')) === 3,
    );
    await change(system.edge, place, [put('a', named!.contentId)]);
    expect(await upload(system.edge, place, ['uploaded again'])).toEqual([again]);
    await passUntil('one content is removed', async () => (await count('contents')) === 2);
    await change(system.edge, place, [put('b', again!.contentId)]);
    await pass(5 * DAY_MS);
    expect(await treeOf(system.edge, place)).toEqual({ a: 'named late', b: 'uploaded again' });
    expect(await objects()).toBe(2);
  });

  it('never removes a content that a concurrent change names', async () => {
    await open({ graceSeconds: 7_200 });
    const place = newPlace();
    const outcomes = new Set<string>();
    for (let round = 0; round < 12; round++) {
      const [content] = await upload(system.edge, place, [`round ${round}`]);
      await passUntil(
        'the content is marked as unreferenced',
        async () => (await count('contents', 'doomed_at is not null')) === 1,
        10 * MINUTE_MS,
      );
      // It is removed two hours after the mark.
      await step(2 * HOUR_MS - 5_000);
      // The next sweep runs during the change.
      const changing = change(system.edge, place, [put('f', content!.contentId)]).then(
        () => 'made',
        ({ code }: { code: string }) => code,
      );
      for (let turn = 0; turn < round; turn++) await new Promise((resolve) => setImmediate(resolve));
      clock.advance(10_000);
      const outcome = await changing;
      outcomes.add(outcome);
      if (outcome === 'made') expect(await readText(system.edge, place, 'f')).toBe(`round ${round}`);
      await passUntil('no content is marked as unreferenced', async () => {
        return (await count('contents', 'doomed_at is not null or deleting_at is not null')) === 0;
      });
      if (outcome === 'made') expect(await readText(system.edge, place, 'f')).toBe(`round ${round}`);
    }
    for (const outcome of outcomes) expect(['made', 'FILE_NOT_FOUND']).toContain(outcome);
  });

  it('removes expired versions and their bytes', async () => {
    await open({ historyDays: 3 });
    const place = newPlace();
    await write(system.edge, place, { a: 'one', b: 'always' });
    await write(system.edge, place, { a: 'two' });
    await pass(2 * DAY_MS);
    await write(system.edge, place, { a: 'three' });
    expect(await readText(system.edge, place, 'a', { version: 1 })).toBe('one');
    await pass(1.5 * DAY_MS);
    await passUntil(
      'expired versions are removed',
      async () => (await workspace(system.edge, place)).oldestVersion === 2,
      MINUTE_MS,
    );
    await expect(readText(system.edge, place, 'a', { version: 1 })).rejects.toMatchObject({
      code: 'FILE_NOT_FOUND',
    });
    expect(await readText(system.edge, place, 'a', { version: 2 })).toBe('two');
    await passUntil('their bytes are removed', async () => (await objects()) === 2);
    expect(await treeOf(system.edge, place)).toEqual({ a: 'three', b: 'always' });
    expect(await workspace(system.edge, place)).toMatchObject({ version: 3, oldestVersion: 3 });
    expect(await count('entries')).toBe(2);
    expect(await count('changes')).toBe(0);
    expect(await changesOf(system.edge, place)).toEqual([]);
    expect(await changesOf(system.edge, place, 4)).toEqual([]);
    await expect(changesOf(system.edge, place, 3)).rejects.toMatchObject({ code: 'CURSOR_EXPIRED' });
  });

  it('makes Checkout send the whole tree to a runner with an expired version', async () => {
    await open({ historyDays: 1 });
    const sessionId = system.fakes.session();
    const place = ofSession(sessionId);
    const lease = system.fakes.lease(sessionId);
    await write(system.edge, place, { a: 'one', gone: 'one' });
    const copy = await new WorkspaceCopy().checkout(system.runner, lease);
    await write(system.edge, place, { a: 'two' });
    await change(system.edge, place, [remove('gone')]);
    await passUntil(
      'the version is expired',
      async () => (await workspace(system.edge, place)).oldestVersion === 3,
    );
    expect((await copy.checkout(system.runner, lease)).whole).toBe(true);
    expect(copy.tree).toEqual({ a: 'two' });
  });

  it('keeps entries that a fork shows', async () => {
    await open({ historyDays: 1 });
    const [from, to] = [system.fakes.session(), system.fakes.session()];
    await write(system.edge, ofSession(from), { a: 'shown', b: 'shown' });
    await system.sessions.forkWorkspace(
      { fromSessionId: from, version: undefined, toSessionId: to },
      { caller },
    );
    await write(system.edge, ofSession(from), { a: 'two', c: 'two' });
    await write(system.edge, ofSession(from), { a: 'three', c: 'three' });
    await passUntil('entries that no fork shows are removed', async () => (await objects()) === 2);
    await pass(5 * DAY_MS);
    expect(await treeOf(system.edge, ofSession(to))).toEqual({ a: 'shown', b: 'shown' });
    await system.sessions.deleteWorkspace({ place: ofSession(to) }, { caller });
    await passUntil('nothing of the fork is left', async () => (await count('workspaces')) === 1);
    await passUntil(
      'the entries that the fork showed are removed',
      async () => (await count('entries')) === 3,
    );
    expect(await treeOf(system.edge, ofSession(from))).toEqual({ a: 'three', b: 'shown', c: 'three' });
  });

  it('removes a deleted workspace and keeps contents that other workspaces use', async () => {
    await open();
    const [one, two] = [system.fakes.session(), system.fakes.session()];
    await write(system.edge, ofSession(one), { a: 'only here', b: 'in both' });
    await write(system.edge, ofSession(two), { b: 'in both' });
    await system.sessions.deleteWorkspace({ place: ofSession(one) });
    await system.sessions.deleteWorkspace({ place: ofSession(one) });
    await expect(treeOf(system.edge, ofSession(one))).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    await expect(write(system.edge, ofSession(one), { a: 'again' })).rejects.toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
    await passUntil(
      'the workspace is removed',
      async () => (await objects()) === 1 && (await count('workspaces')) === 1,
    );
    expect(await treeOf(system.edge, ofSession(two))).toEqual({ b: 'in both' });
    for (const [table, left] of Object.entries({
      entries: 1,
      changes: 1,
      versions: 1,
      deliveries: 0,
      fences: 0,
    })) {
      expect(await count(table), table).toBe(left);
    }
  });

  it('removes a deleted workspace with forks only after its forks', async () => {
    await open();
    const [first, second, third] = [1, 2, 3].map(() => system.fakes.session()) as [string, string, string];
    const fork = (fromSessionId: string, toSessionId: string) =>
      system.sessions.forkWorkspace({ fromSessionId, version: undefined, toSessionId }, { caller });
    await write(system.edge, ofSession(first), { a: '1', hidden: '1' });
    await fork(first, second);
    await write(system.edge, ofSession(second), { b: '2' });
    await change(system.edge, ofSession(second), [remove('hidden')]);
    await fork(second, third);
    await write(system.edge, ofSession(first), { late: '1' });
    for (const session of [first, second])
      await system.sessions.deleteWorkspace({ place: ofSession(session) });
    await passUntil(
      'the late change is not visible',
      async () => (await count('entries', "path = 'late'")) === 0,
    );
    await pass(5 * DAY_MS);
    expect(await treeOf(system.edge, ofSession(third))).toEqual({ a: '1', b: '2' });
    await system.sessions.deleteWorkspace({ place: ofSession(third) });
    await passUntil(
      'everything is removed',
      async () => (await count('workspaces')) + (await objects()) === 0,
    );
    expect(await count('entries')).toBe(0);
  });

  it('purges deleted workspaces that were never changed', async () => {
    await open();
    const assistantId = system.fakes.assistant();
    await system.agents.deleteWorkspace({ place: ofAssistant(assistantId) });
    await expect(change(system.edge, ofAssistant(assistantId), [mkdir('d')])).rejects.toMatchObject({
      code: 'ASSISTANT_NOT_FOUND',
    });
    await passUntil('its row is removed', async () => (await count('workspaces')) === 0);
  });

  it('removes objects that a crash left without a row', async () => {
    let isCrashing = false;
    await open({}, (blobs) => ({
      ...blobs,
      delete: (key) => (isCrashing ? Promise.resolve() : blobs.delete(key)),
    }));
    const place = newPlace();
    await write(system.edge, place, { a: 'kept' });
    isCrashing = true;
    await runOn(
      system.database.url,
      'alter table files.contents add constraint crash check (size < 500000) not valid',
    );
    await expect(upload(system.edge, place, ['x'.repeat(MIB)])).rejects.toMatchObject({ code: 'INTERNAL' });
    await runOn(system.database.url, 'alter table files.contents drop constraint crash');
    isCrashing = false;
    expect(await objects()).toBe(2);
    await pass(20 * HOUR_MS);
    expect(await objects()).toBe(2);
    await passUntil('it is removed', async () => (await objects()) === 1);
    expect(await treeOf(system.edge, place)).toEqual({ a: 'kept' });
  });

  it('repeats a failed deletion of an object', async () => {
    let isAway = true;
    await open({}, (blobs) => ({
      ...blobs,
      delete: (key) => (isAway ? Promise.reject(new Error('away')) : blobs.delete(key)),
    }));
    await upload(system.edge, newPlace(), ['never named']);
    await passUntil(
      'the content is marked for deletion',
      async () => (await count('contents', 'deleting_at is not null')) === 1,
    );
    await pass(2 * HOUR_MS);
    expect(await objects()).toBe(1);
    isAway = false;
    await passUntil('it is removed', async () => (await objects()) + (await count('contents')) === 0);
  });

  it('deletes the objects behind others that can never be deleted', async () => {
    const undeletable = new Set<string>();
    await open({}, (blobs) => ({
      ...blobs,
      delete(key) {
        if (undeletable.size < 20) undeletable.add(key);
        return undeletable.has(key) ? Promise.reject(new Error('forbidden')) : blobs.delete(key);
      },
    }));
    const place = newPlace();
    await upload(
      system.edge,
      place,
      Array.from({ length: 23 }, (_, index) => `never named ${index}`),
    );
    await passUntil('the others are removed', async () => (await objects()) === 20);
    expect(await count('contents')).toBe(20);
    expect(undeletable.size).toBe(20);
  });

  it('removes each object once with several replicas, and no other object', async () => {
    await open({ graceSeconds: 7_200, historyDays: 1 });
    await using _other = await openReplica('in process', system.context, system.fakes, system.blobs, {
      graceSeconds: 7_200,
      historyDays: 1,
    });
    idleTimers = clock.pending;
    const places = [1, 2, 3].map(newPlace);
    for (let round = 0; round < 6; round++) {
      for (const [index, place] of places.entries())
        await write(system.edge, place, { f: `${round} of ${index}`, [`g${round}`]: 'kept' });
      clock.advance(5 * HOUR_MS);
    }
    await passUntil('only current contents are left', async () => (await objects()) === 4);
    for (const [index, place] of places.entries()) {
      const tree = await treeOf(system.edge, place);
      expect(tree.f).toBe(`5 of ${index}`);
      expect(Object.keys(tree)).toHaveLength(7);
    }
  });
});

describe('the scrubber', () => {
  it('reports each missing or damaged content once and continues', async () => {
    const clock = createFakeClock(new Date());
    const lines: string[] = [];
    const log = createLog({
      level: 'warn',
      destination: { write: (line) => lines.push(line) },
    });
    await using system = await openFilesSystem('in process', { clock, log }, { scrubMibPerSecond: 100 });
    const place = ofSession(system.fakes.session());
    await write(system.edge, place, { a: 'one', b: 'two', c: 'x'.repeat(MIB), d: 'four' });
    const rows = await rowsOn<{ object_key: string; size: string }>(
      system.database.url,
      'select object_key, size from files.contents order by size, object_key',
    );
    const pathOf = (key: string) => join(system.directory, 'objects', key.slice(0, 2), key);
    await rm(pathOf(rows[0]!.object_key));
    const damaged = () =>
      countOn(system.database.url, 'select count(*) from files.contents where damaged_at is not null');
    const scrubbed = () =>
      countOn(
        system.database.url,
        `select count(*) from files.contents where scrubbed_at > '${new Date(clock.now().getTime() - DAY_MS).toISOString()}'`,
      );
    clock.advance(8 * DAY_MS);
    const found = () => lines.filter((line) => line.includes('are damaged'));
    await advanceUntil(
      'every content is checked and each damage reported',
      () => clock.advance(1_000),
      async () => (await scrubbed()) === 4 && found().length > 0,
    );
    expect(await damaged()).toBe(1);
    expect(found()).toHaveLength(1);
    expect(found()[0]).toContain('"how":"missing"');
    expect(await system.context.metrics.text()).toContain(
      'ahs_files_damaged_contents_total{how="missing"} 1',
    );
  });

  it('does not report a content that is deleted during the check', async () => {
    const clock = createFakeClock(new Date());
    const lines: string[] = [];
    const log = createLog({
      level: 'warn',
      destination: { write: (line) => lines.push(line) },
    });
    let url = '';
    let looked = 0;
    const deleting = (blobs: Blobs): Blobs => ({
      ...blobs,
      async *read(key, range, signal) {
        await runOn(url, `update files.contents set deleting_at = now() where object_key = '${key}'`);
        await blobs.delete(key);
        looked++;
        yield* blobs.read(key, range, signal);
      },
    });
    await using system = await openFilesSystem(
      'in process',
      { clock, log },
      { scrubMibPerSecond: 100 },
      deleting,
    );
    url = system.database.url;
    await write(system.edge, ofSession(system.fakes.session()), { a: 'one', b: 'two' });
    clock.advance(8 * DAY_MS);
    await advanceUntil(
      'both contents are checked',
      () => clock.advance(1_000),
      async () => looked === 2,
    );
    await system[Symbol.asyncDispose]();
    expect(lines).toEqual([]);
  });

  it('checks the other contents, and that one an hour later, when one cannot be read', async () => {
    const clock = createFakeClock(new Date());
    let unreadable: string | undefined;
    let failures = 0;
    const read = new Set<string>();
    const failing = (blobs: Blobs): Blobs => ({
      ...blobs,
      async *read(key, range, signal) {
        unreadable ??= key;
        if (key === unreadable) {
          failures++;
          throw refuse('DEPENDENCY_UNAVAILABLE', 'The object cannot be read.');
        }
        read.add(key);
        yield* blobs.read(key, range, signal);
      },
    });
    const limit = { scrubMibPerSecond: 100 };
    await using system = await openFilesSystem('in process', { clock }, limit, failing);
    await write(system.edge, ofSession(system.fakes.session()), { a: 'one', b: 'two', c: 'three' });
    clock.advance(8 * DAY_MS);
    await advanceUntil(
      'the other contents are checked',
      () => clock.advance(1_000),
      async () => read.size === 2,
    );
    expect(failures).toBe(1);
    await advanceUntil(
      'the unreadable content is read again',
      () => clock.advance(60_000),
      async () => failures === 2,
    );
  });
});
