import { setImmediate, setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import { createLog } from '../../../lib/log.ts';
import { startEventDeliverer } from '../../../services/files/deliverer.ts';
import type { ChangeFeed } from '../../../services/files/store/change-feed.ts';
import { createFakeClock } from '../../support/clock.ts';
import { countOn } from '../../support/sql.ts';
import { advanceUntil, until } from '../../support/wait.ts';
import {
  change,
  type FilesSystem,
  mkdir,
  move,
  OWNER,
  ofAssistant,
  ofSession,
  openFilesSystem,
  openReplica,
  remove,
  sha256,
  write,
} from './system.ts';

describe('the delivery of file events to sessions', () => {
  let system: FilesSystem | undefined;
  afterEach(() => system?.[Symbol.asyncDispose]());

  const silent = createLog({ level: 'silent' });
  const pendingDeliveries = (one: FilesSystem) =>
    countOn(one.database.url, 'select count(*) from files.deliveries');

  it('delivers events before the change returns', async () => {
    system = await openFilesSystem();
    const sessionId = system.fakes.session();
    const place = ofSession(sessionId);
    await write(system.edge, place, { 'd/a': 'one' });
    await write(system.edge, place, { 'd/a': 'two' });
    await change(system.edge, place, [mkdir('e'), move('d', 'e/f'), remove('e/f/a')]);
    const delivered = system.fakes.deliveredEvents(sessionId);
    const common = { userId: OWNER.userId, createdAt: expect.any(Date) };
    expect(
      delivered.map(({ seq, type, dataJson, ...rest }) => ({
        seq,
        type,
        data: JSON.parse(dataJson),
        ...rest,
      })),
    ).toEqual([
      {
        ...common,
        seq: 2,
        type: 'file.created',
        data: { path: 'd/a', size: 3, sha256: sha256('one'), workspace_version: 1 },
      },
      {
        ...common,
        seq: 3,
        type: 'file.modified',
        data: { path: 'd/a', size: 3, sha256: sha256('two'), workspace_version: 2 },
      },
      { ...common, seq: 4, type: 'file.deleted', data: { path: 'd', workspace_version: 3 } },
    ]);
    expect(await pendingDeliveries(system)).toBe(0);
  });

  it('delivers one event for an upload, with the first 100 of its files', async () => {
    const opened = await openFilesSystem();
    system = opened;
    const sessionId = opened.fakes.session();
    const place = ofSession(sessionId);
    await write(opened.edge, place, { 'kept/a': 'old' });
    const texts = Object.fromEntries(Array.from({ length: 700 }, (_, index) => [`d/${1_000 + index}`, 'x']));
    await write(opened.edge, place, { ...texts, 'kept/a': 'new' }, { upload: true });
    await write(opened.edge, place, { last: 'y' });
    const events = await until('all events are delivered', async () => {
      const delivered = opened.fakes.deliveredEvents(sessionId);
      return delivered.length >= 3 && delivered;
    });
    expect(events.map(({ type }) => type)).toEqual(['file.created', 'files.uploaded', 'file.created']);
    const data = JSON.parse(events[1]?.dataJson ?? '');
    expect(data).toMatchObject({ workspace_version: 2, file_count: 701, bytes: 703 });
    expect(data.files).toHaveLength(100);
    expect(data.files[0]).toEqual({ path: 'd/1000', size: 1, sha256: sha256('x') });
    expect(await pendingDeliveries(opened)).toBe(0);
  });

  it('delivers an event for each path of an upload by a runner', async () => {
    system = await openFilesSystem();
    const sessionId = system.fakes.session();
    const lease = system.fakes.lease(sessionId);
    await write(system.runner, ofSession(sessionId), { a: '1', b: '2' }, { lease, upload: true });
    const types = system.fakes.deliveredEvents(sessionId).map(({ type }) => type);
    expect(types).toEqual(['file.created', 'file.created']);
  });

  it('delivers all events in order after an outage of sessions', async () => {
    const clock = createFakeClock();
    system = await openFilesSystem('in process', { clock, log: silent });
    const sessionId = system.fakes.session();
    const place = ofSession(sessionId);
    let isAway = true;
    system.fakes.onAppend = () => {
      if (isAway) throw refuse('DEPENDENCY_UNAVAILABLE', 'sessions cannot be reached');
    };
    for (let index = 0; index < 5; index++) await write(system.edge, place, { [`f${index}`]: `${index}` });
    expect(system.fakes.deliveredEvents(sessionId)).toEqual([]);
    expect(await pendingDeliveries(system)).toBe(1);
    isAway = false;
    const here = system;
    await advanceUntil(
      'the events are delivered',
      () => clock.advance(5_000),
      async () => (await pendingDeliveries(here)) === 0,
    );
    expect(system.fakes.deliveredEvents(sessionId).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
  });

  it('delivers to all due sessions in one pass', async () => {
    const clock = createFakeClock();
    system = await openFilesSystem('in process', { clock, log: silent });
    const here = system;
    let isAway = true;
    system.fakes.onAppend = () => {
      if (isAway) throw refuse('DEPENDENCY_UNAVAILABLE', 'sessions cannot be reached');
    };
    const sessions = Array.from({ length: 70 }, () => here.fakes.session());
    await Promise.all(sessions.map((id) => write(here.edge, ofSession(id), { a: 'one' })));
    expect(await pendingDeliveries(here)).toBe(70);
    isAway = false;
    clock.advance(60_000);
    await until('all events are delivered', async () => (await pendingDeliveries(here)) === 0);
  });

  it('returns the change after the maximum wait when delivery hangs', async () => {
    system = await openFilesSystem();
    const sessionId = system.fakes.session();
    let release = () => {};
    const blocked = new Promise<void>((resolve) => {
      release = resolve;
    });
    system.fakes.onAppend = () => blocked;
    await write(system.edge, ofSession(sessionId), { a: 'one' });
    expect(system.fakes.deliveredEvents(sessionId)).toEqual([]);
    release();
    await until('the events are delivered', () => system?.fakes.deliveredEvents(sessionId).length === 1);
  });

  it('delivers events of a crashed process from another process', async () => {
    const clock = createFakeClock();
    system = await openFilesSystem('in process', { clock, log: silent });
    const sessionId = system.fakes.session();
    system.fakes.onAppend = () => {
      throw refuse('DEPENDENCY_UNAVAILABLE', 'sessions cannot be reached');
    };
    await write(system.edge, ofSession(sessionId), { a: 'one' });
    system.fakes.onAppend = () => {};
    await using _next = await openReplica('in process', system.context, system.fakes, system.blobs);
    const here = system;
    await advanceUntil(
      'the events are delivered',
      () => clock.advance(5_000),
      async () => (await pendingDeliveries(here)) === 0,
    );
    expect(system.fakes.deliveredEvents(sessionId)).toHaveLength(1);
  });

  it('drops events for deleted sessions', async () => {
    const clock = createFakeClock();
    system = await openFilesSystem('in process', { clock });
    const sessionId = system.fakes.session();
    const { fakes } = system;
    fakes.onAppend = () => fakes.delete(sessionId);
    await write(system.edge, ofSession(sessionId), { a: 'one' });
    expect(await pendingDeliveries(system)).toBe(0);
    expect(fakes.deliveredEvents(sessionId)).toEqual([]);
  });

  it('delivers each event once and in order with concurrent replicas and changes', async () => {
    system = await openFilesSystem();
    await using other = await openReplica('in process', system.context, system.fakes, system.blobs);
    const assistantId = system.fakes.assistant();
    const sessions = [1, 2, 3].map(() => system!.fakes.session(OWNER, assistantId));
    await Promise.all(
      Array.from({ length: 30 }, (_, index) => {
        const files = index % 2 === 0 ? system!.edge : other.edge;
        return write(files, ofSession(sessions[index % 3]!), { [`f${index}`]: `${index}` });
      }),
    );
    await write(system.edge, ofAssistant(assistantId), { last: 'without a session' });
    const here = system;
    await until('all events are delivered', async () => (await pendingDeliveries(here)) === 0);
    const delivered = sessions.map((session) => here.fakes.deliveredEvents(session).map(({ seq }) => seq));
    for (const seqs of delivered) expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
    expect(delivered.flat().sort((a, b) => a - b)).toEqual(
      Array.from({ length: 30 }, (_, index) => index + 1),
    );
  });

  it('splits many events into several calls', async () => {
    system = await openFilesSystem();
    const sessionId = system.fakes.session();
    let calls = 0;
    system.fakes.onAppend = () => void calls++;
    const texts = Object.fromEntries(Array.from({ length: 1_200 }, (_, index) => [`f${index}`, 'x']));
    await write(system.edge, ofSession(sessionId), texts);
    const here = system;
    await until('all events are delivered', () => here.fakes.deliveredEvents(sessionId).length === 1_200);
    expect(calls).toBeGreaterThan(2);
  });
});

describe('a delivery that fails and cannot be postponed', () => {
  it('is tried once in each interval', async () => {
    const clock = createFakeClock();
    const due = Array.from({ length: 20 }, (_, n) => ({
      workspaceId: `wsp_${n}`,
      sessionId: `ses_${n}`,
      deliveredSeq: 0,
      attempts: 0,
    }));
    let searches = 0;
    const full = () => Promise.reject(refuse('STORAGE_FULL', 'The database has no space left.'));
    const feed: ChangeFeed = {
      due: async () => {
        searches++;
        await setImmediate();
        return due;
      },
      delivery: async () => undefined,
      after: async () => [],
      uploads: async () => [],
      pathsBetween: async () => [],
      markDelivered: full,
      drop: full,
      postpone: full,
    };
    const sessions = { appendFileEvents: full };
    const expected = { isExpected: async () => false };
    const log = createLog({ level: 'silent' });
    const deliverer = startEventDeliverer({ feed, expected, sessions, clock, log });
    for (let interval = 1; interval <= 3; interval++) {
      await advanceUntil(
        'the due deliveries are searched',
        () => clock.advance(1_000),
        async () => searches >= interval,
      );
      await setTimeout(20);
      expect(searches).toBe(interval);
    }
    await deliverer.stop();
  });
});
