import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Blobs } from '../../../lib/blobs/blobs.ts';
import { createLog } from '../../../lib/log.ts';
import type { FilesConfig } from '../../../services/files/config.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { countOn, rowsOn, runOn } from '../../support/sql.ts';
import { passing } from '../../support/wait.ts';
import {
  Copy,
  change,
  changesOf,
  type House,
  MIB,
  mkdir,
  OWNER,
  ofAssistant,
  ofSession,
  openHouse,
  openReplica,
  put,
  readText,
  remove,
  treeOf,
  upload,
  workspace,
  write,
} from './house.ts';

const HOUR_MS = 60 * 60 * 1_000;
const DAY_MS = 24 * HOUR_MS;
const caller = OWNER;

describe('what nobody needs', () => {
  let house: House;
  let clock: FakeClock;
  afterEach(() => house[Symbol.asyncDispose]());

  /** Objects that are as old as the clock says, not as the disk does. */
  function timed(blobs: Blobs): Blobs {
    const written = new Map<string, Date>();
    return {
      ...blobs,
      async write(...args) {
        const begun = clock.now();
        const stored = await blobs.write(...args);
        written.set(stored.key, begun);
        return stored;
      },
      async *list(after) {
        for await (const one of blobs.list(after)) {
          const writtenAt = written.get(one.key);
          if (writtenAt) yield { ...one, writtenAt };
        }
      },
      tidy: async () => 0,
    };
  }

  async function open(config: Partial<FilesConfig> = {}, wrap = (blobs: Blobs) => blobs): Promise<void> {
    clock = createFakeClock();
    house = await openHouse(
      'in process',
      { clock, log: createLog({ level: 'silent', pretty: false }), observe: () => {} },
      config,
      (blobs) => wrap(timed(blobs)),
    );
  }

  const count = (table: string, where = 'true') =>
    countOn(house.database.url, `select count(*) from files.${table} where ${where}`);
  const objects = async () => (await Array.fromAsync(house.blobs.list())).length;
  const newPlace = () => ofSession(house.neighbours.session());

  /** Time goes by, in steps in which everything is swept that can be. */
  async function pass(ms: number): Promise<void> {
    const step = Math.max(HOUR_MS, ms / 20);
    for (let gone = 0; gone < ms; gone += step) {
      clock.advance(Math.min(step, ms - gone));
      for (const table of ['contents', 'entries', 'workspaces']) await count(table);
    }
  }

  async function passUntil(what: string, isSo: () => Promise<boolean>): Promise<void> {
    await passing(what, () => clock.advance(HOUR_MS), isSo);
  }

  it('goes after a grace: bytes that no change has named', async () => {
    await open();
    const place = newPlace();
    const [content] = await upload(house.edge, place, ['never named', 'x'.repeat(MIB)]);
    await write(house.edge, place, { a: 'named' });
    await pass(20 * HOUR_MS);
    expect(await objects()).toBe(3);
    // The row of a content goes after its object.
    await passUntil('they are gone', async () => (await count('contents')) === 1);
    expect(await objects()).toBe(1);
    expect(await readText(house.edge, place, 'a')).toBe('named');
    const late = change(house.edge, place, [put('late', content!.contentId)]);
    await expect(late).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
  });

  it('stays when somebody names it in its grace, or uploads it again', async () => {
    await open();
    const place = newPlace();
    const [named, again] = await upload(house.edge, place, ['named late', 'uploaded again', 'forgotten']);
    await pass(25 * HOUR_MS);
    await passing(
      'they are doomed',
      () => clock.advance(10_000),
      async () => (await count('contents', 'doomed_at is not null')) === 3,
    );
    await change(house.edge, place, [put('a', named!.contentId)]);
    expect(await upload(house.edge, place, ['uploaded again'])).toEqual([again]);
    await passUntil('one is gone', async () => (await count('contents')) === 2);
    await change(house.edge, place, [put('b', again!.contentId)]);
    await pass(5 * DAY_MS);
    expect(await treeOf(house.edge, place)).toEqual({ a: 'named late', b: 'uploaded again' });
    expect(await objects()).toBe(2);
  });

  it('is never taken from under a change that comes at that moment', async () => {
    await open({ graceSeconds: 7_200 });
    const place = newPlace();
    const outcomes = new Set<string>();
    for (let round = 0; round < 12; round++) {
      const [content] = await upload(house.edge, place, [`round ${round}`]);
      await passUntil('it is doomed', async () => (await count('contents', 'doomed_at is not null')) === 1);
      clock.advance(2 * HOUR_MS - 5_000);
      // The next sweep comes in the middle of the change.
      const changing = change(house.edge, place, [put('f', content!.contentId)]).then(
        () => 'made',
        ({ code }: { code: string }) => code,
      );
      for (let turn = 0; turn < round; turn++) await new Promise((resolve) => setImmediate(resolve));
      clock.advance(10_000);
      const outcome = await changing;
      outcomes.add(outcome);
      if (outcome === 'made') expect(await readText(house.edge, place, 'f')).toBe(`round ${round}`);
      await passUntil('nothing is doomed', async () => {
        return (await count('contents', 'doomed_at is not null or deleting_at is not null')) === 0;
      });
      if (outcome === 'made') expect(await readText(house.edge, place, 'f')).toBe(`round ${round}`);
    }
    for (const outcome of outcomes) expect(['made', 'FILE_NOT_FOUND']).toContain(outcome);
  });

  it('goes with the history: versions that were replaced long ago', async () => {
    await open({ historyDays: 3 });
    const place = newPlace();
    await write(house.edge, place, { a: 'one', b: 'always' });
    await write(house.edge, place, { a: 'two' });
    await pass(2 * DAY_MS);
    await write(house.edge, place, { a: 'three' });
    expect(await readText(house.edge, place, 'a', { version: 1 })).toBe('one');
    await pass(1.5 * DAY_MS);
    await passing(
      'old versions are gone',
      () => clock.advance(10_000),
      async () => (await workspace(house.edge, place)).oldestVersion === 2,
    );
    await expect(readText(house.edge, place, 'a', { version: 1 })).rejects.toMatchObject({
      code: 'FILE_NOT_FOUND',
    });
    expect(await readText(house.edge, place, 'a', { version: 2 })).toBe('two');
    await passUntil('the bytes are gone, too', async () => (await objects()) === 2);
    expect(await treeOf(house.edge, place)).toEqual({ a: 'three', b: 'always' });
    expect(await workspace(house.edge, place)).toMatchObject({ version: 3, oldestVersion: 3 });
    expect(await count('entries')).toBe(2);
    expect(await count('changes')).toBe(0);
    expect(await changesOf(house.edge, place)).toEqual([]);
    expect(await changesOf(house.edge, place, 4)).toEqual([]);
    await expect(changesOf(house.edge, place, 3)).rejects.toMatchObject({ code: 'CURSOR_EXPIRED' });
  });

  it('means a whole checkout for whoever has a version that is not kept any more', async () => {
    await open({ historyDays: 1 });
    const sessionId = house.neighbours.session();
    const place = ofSession(sessionId);
    const lease = house.neighbours.lease(sessionId);
    await write(house.edge, place, { a: 'one', gone: 'one' });
    const copy = await new Copy().checkout(house.runner, lease);
    await write(house.edge, place, { a: 'two' });
    await change(house.edge, place, [remove('gone')]);
    await passUntil(
      'the history is gone',
      async () => (await workspace(house.edge, place)).oldestVersion === 3,
    );
    expect((await copy.checkout(house.runner, lease)).whole).toBe(true);
    expect(copy.tree).toEqual({ a: 'two' });
  });

  it('does not include what a fork shows', async () => {
    await open({ historyDays: 1 });
    const [from, to] = [house.neighbours.session(), house.neighbours.session()];
    await write(house.edge, ofSession(from), { a: 'shown', b: 'shown' });
    await house.sessions.forkWorkspace(
      { fromSessionId: from, version: undefined, toSessionId: to },
      { caller },
    );
    await write(house.edge, ofSession(from), { a: 'two', c: 'two' });
    await write(house.edge, ofSession(from), { a: 'three', c: 'three' });
    await passUntil('what is not shown is gone', async () => (await objects()) === 2);
    await pass(5 * DAY_MS);
    expect(await treeOf(house.edge, ofSession(to))).toEqual({ a: 'shown', b: 'shown' });
    await house.sessions.deleteWorkspace({ place: ofSession(to) }, { caller });
    await passUntil('nothing of the fork is left', async () => (await count('workspaces')) === 1);
    await passUntil('what it showed is gone', async () => (await count('entries')) === 3);
    expect(await treeOf(house.edge, ofSession(from))).toEqual({ a: 'three', b: 'shown', c: 'three' });
  });

  it('goes with its workspace, and what others need stays', async () => {
    await open();
    const [one, two] = [house.neighbours.session(), house.neighbours.session()];
    await write(house.edge, ofSession(one), { a: 'only here', b: 'in both' });
    await write(house.edge, ofSession(two), { b: 'in both' });
    await house.sessions.deleteWorkspace({ place: ofSession(one) });
    await house.sessions.deleteWorkspace({ place: ofSession(one) });
    await expect(treeOf(house.edge, ofSession(one))).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    await expect(write(house.edge, ofSession(one), { a: 'again' })).rejects.toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
    await passUntil('it is gone', async () => (await objects()) === 1 && (await count('workspaces')) === 1);
    expect(await treeOf(house.edge, ofSession(two))).toEqual({ b: 'in both' });
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

  it('goes with a workspace that was forked only when the fork goes', async () => {
    await open();
    const [first, second, third] = [1, 2, 3].map(() => house.neighbours.session()) as [
      string,
      string,
      string,
    ];
    const fork = (fromSessionId: string, toSessionId: string) =>
      house.sessions.forkWorkspace({ fromSessionId, version: undefined, toSessionId }, { caller });
    await write(house.edge, ofSession(first), { a: '1', hidden: '1' });
    await fork(first, second);
    await write(house.edge, ofSession(second), { b: '2' });
    await change(house.edge, ofSession(second), [remove('hidden')]);
    await fork(second, third);
    await write(house.edge, ofSession(first), { late: '1' });
    for (const session of [first, second])
      await house.sessions.deleteWorkspace({ place: ofSession(session) });
    await passUntil(
      'nobody sees what came late',
      async () => (await count('entries', "path = 'late'")) === 0,
    );
    await pass(5 * DAY_MS);
    expect(await treeOf(house.edge, ofSession(third))).toEqual({ a: '1', b: '2' });
    await house.sessions.deleteWorkspace({ place: ofSession(third) });
    await passUntil('everything is gone', async () => (await count('workspaces')) + (await objects()) === 0);
    expect(await count('entries')).toBe(0);
  });

  it('includes workspaces that never were', async () => {
    await open();
    const assistantId = house.neighbours.assistant();
    await house.agents.deleteWorkspace({ place: ofAssistant(assistantId) });
    await expect(change(house.edge, ofAssistant(assistantId), [mkdir('d')])).rejects.toMatchObject({
      code: 'ASSISTANT_NOT_FOUND',
    });
    await passUntil('its row is gone', async () => (await count('workspaces')) === 0);
  });

  it('includes objects that a crash left without a row', async () => {
    let isCrashing = false;
    await open({}, (blobs) => ({
      ...blobs,
      delete: (key) => (isCrashing ? Promise.resolve() : blobs.delete(key)),
    }));
    const place = newPlace();
    await write(house.edge, place, { a: 'kept' });
    isCrashing = true;
    await runOn(
      house.database.url,
      'alter table files.contents add constraint crash check (size < 500000) not valid',
    );
    await expect(upload(house.edge, place, ['x'.repeat(MIB)])).rejects.toMatchObject({ code: 'INTERNAL' });
    await runOn(house.database.url, 'alter table files.contents drop constraint crash');
    isCrashing = false;
    expect(await objects()).toBe(2);
    await pass(20 * HOUR_MS);
    expect(await objects()).toBe(2);
    await passUntil('it is gone', async () => (await objects()) === 1);
    expect(await treeOf(house.edge, place)).toEqual({ a: 'kept' });
  });

  it('is deleted again when that failed', async () => {
    let isAway = true;
    await open({}, (blobs) => ({
      ...blobs,
      delete: (key) => (isAway ? Promise.reject(new Error('away')) : blobs.delete(key)),
    }));
    await upload(house.edge, newPlace(), ['never named']);
    await passUntil(
      'it is to be deleted',
      async () => (await count('contents', 'deleting_at is not null')) === 1,
    );
    await pass(2 * HOUR_MS);
    expect(await objects()).toBe(1);
    isAway = false;
    await passUntil('it is gone', async () => (await objects()) + (await count('contents')) === 0);
  });

  it('is removed once by several replicas, and nothing else is', async () => {
    await open({ graceSeconds: 7_200, historyDays: 1 });
    await using _other = await openReplica('in process', house.context, house.neighbours, house.blobs, {
      graceSeconds: 7_200,
      historyDays: 1,
    });
    const places = [1, 2, 3].map(newPlace);
    for (let round = 0; round < 6; round++) {
      for (const [index, place] of places.entries())
        await write(house.edge, place, { f: `${round} of ${index}`, [`g${round}`]: 'kept' });
      clock.advance(5 * HOUR_MS);
    }
    await passUntil('only what stands is left', async () => (await objects()) === 4);
    for (const [index, place] of places.entries()) {
      const tree = await treeOf(house.edge, place);
      expect(tree.f).toBe(`5 of ${index}`);
      expect(Object.keys(tree)).toHaveLength(7);
    }
  });
});

describe('the scrubber', () => {
  it('finds what is missing or damaged, says so once each time, and goes on', async () => {
    const clock = createFakeClock(new Date());
    const lines: string[] = [];
    const log = createLog({
      level: 'warn',
      pretty: false,
      destination: { write: (line) => lines.push(line) },
    });
    await using house = await openHouse('in process', { clock, log }, { scrubMibPerSecond: 100 });
    const place = ofSession(house.neighbours.session());
    await write(house.edge, place, { a: 'one', b: 'two', c: 'x'.repeat(MIB), d: 'four' });
    const rows = await rowsOn<{ object_key: string; size: string }>(
      house.database.url,
      'select object_key, size from files.contents order by size, object_key',
    );
    const pathOf = (key: string) => join(house.directory, 'objects', key.slice(0, 2), key);
    await rm(pathOf(rows[0]!.object_key));
    const damaged = () =>
      countOn(house.database.url, 'select count(*) from files.contents where damaged_at is not null');
    const scrubbed = () =>
      countOn(
        house.database.url,
        `select count(*) from files.contents where scrubbed_at > '${new Date(clock.now().getTime() - DAY_MS).toISOString()}'`,
      );
    clock.advance(8 * DAY_MS);
    const found = () => lines.filter((line) => line.includes('are damaged'));
    await passing(
      'everything has been looked at, and what is wrong was said',
      () => clock.advance(1_000),
      async () => (await scrubbed()) === 4 && found().length > 0,
    );
    expect(await damaged()).toBe(1);
    expect(found()).toHaveLength(1);
    expect(found()[0]).toContain('"how":"missing"');
    expect(await house.context.metrics.text()).toContain('ahs_files_damaged_contents_total{how="missing"} 1');
  });

  it('does not take for damaged what is deleted while it looks', async () => {
    const clock = createFakeClock(new Date());
    const lines: string[] = [];
    const log = createLog({
      level: 'warn',
      pretty: false,
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
    await using house = await openHouse('in process', { clock, log }, { scrubMibPerSecond: 100 }, deleting);
    url = house.database.url;
    await write(house.edge, ofSession(house.neighbours.session()), { a: 'one', b: 'two' });
    clock.advance(8 * DAY_MS);
    await passing(
      'both have been looked at',
      () => clock.advance(1_000),
      async () => looked === 2,
    );
    await house[Symbol.asyncDispose]();
    expect(lines).toEqual([]);
  });
});
