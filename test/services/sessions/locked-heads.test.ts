import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { countOn } from '../../support/sql.ts';
import { until } from '../../support/wait.ts';
import {
  COMPLETED,
  claimTurns,
  content,
  createConversation,
  journalOf,
  OWNER,
  openSystem,
  reportFor,
  sendReports,
  sendText,
  typesOf,
} from './system.ts';

const APPENDED = { errorCode: '', errorMessage: '', followed: false, steered: false };
const newEvent = (model: string) => ({
  type: 'model.request_started',
  dataJson: JSON.stringify({ model }),
});

describe('a session whose head is locked by another transaction', () => {
  let system: Awaited<ReturnType<typeof openSystem>>;
  beforeAll(async () => {
    // No lease expires on a slow machine.
    system = await openSystem('in process', {}, { leaseSeconds: 600 });
  });
  afterAll(() => system[Symbol.asyncDispose]());

  /** Holds the lock of the session's head until the returned function is called. */
  async function lockHead(sessionId: string, { database } = system): Promise<() => Promise<void>> {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query('begin');
    await client.query('select from sessions.heads where session_id = $1 for update', [sessionId]);
    return async () => {
      await client.query('commit');
      await client.end();
    };
  }

  async function startTurns(count: number) {
    const sessions = Array.from({ length: count }, (_, i) => createConversation(system, `work ${i}`));
    await Promise.all(sessions);
    return claimTurns(system, count);
  }

  it('does not delay reports of other sessions', async () => {
    const [locked, ...others] = await startTurns(20);
    if (!locked) throw new Error('no turn');
    const unlock = await lockHead(locked.sessionId);
    try {
      const late = sendReports(system, reportFor(locked, 1, { events: [newEvent('late')] }));
      for (const reportSeq of [1, 2]) {
        const reports = others.map((turn) => reportFor(turn, reportSeq, { events: [newEvent('other')] }));
        const results = await Promise.all(reports.map((report) => sendReports(system, report)));
        expect(results).toEqual(others.map(() => [APPENDED]));
      }
      await late;
    } finally {
      await unlock();
    }
    const finished = [reportFor(locked, 2, { outcome: COMPLETED })];
    await sendReports(system, ...finished);
    await sendReports(system, ...others.map((turn) => reportFor(turn, 3, { outcome: COMPLETED })));
  });

  it('does not delay other sessions by messages with an idempotency key', async () => {
    const [locked, other] = await Promise.all([createConversation(system), createConversation(system)]);
    const unlock = await lockHead(locked);
    try {
      const late = Array.from({ length: 20 }, (_, n) =>
        system.edge.sendMessage(
          {
            sessionId: locked,
            contentJson: content('late'),
            busyPolicy: 'enqueue',
            idempotencyKey: `key ${n}`,
          },
          { caller: OWNER },
        ),
      );
      await until('a message waits for the lock', async () => {
        const waiting = `select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
        return (await countOn(system.database.url, waiting)) > 0;
      });
      await sendText(system, other, 'hello');
      await unlock();
      expect(await Promise.all(late)).toHaveLength(20);
    } finally {
      await unlock().catch(() => {});
    }
    for (const sessionId of [locked, other])
      await system.edge.deleteSession({ sessionId }, { caller: OWNER });
  });

  it('does not delay messages to other sessions', async () => {
    const [locked, other] = await Promise.all([createConversation(system), createConversation(system)]);
    const unlock = await lockHead(locked);
    try {
      const late = Promise.all(Array.from({ length: 10 }, () => sendText(system, locked, 'late')));
      await sendText(system, other, 'hello');
      await sendText(system, other, 'hello again');
      await unlock();
      expect(await late).toHaveLength(10);
    } finally {
      await unlock().catch(() => {});
    }
    expect(typesOf(await journalOf(system, locked)).filter((type) => type === 'user.message')).toHaveLength(
      10,
    );
    for (const sessionId of [locked, other])
      await system.edge.deleteSession({ sessionId }, { caller: OWNER });
  });

  it('does not delay the renewal of other leases, and keeps its own lease with the old expiry', async () => {
    const clock = createFakeClock();
    await using timed = await openSystem('in process', { clock });
    await createConversation(timed, 'locked');
    await createConversation(timed, 'other');
    const [locked, other] = await claimTurns(timed, 2);
    if (!locked || !other) throw new Error('no turn');
    const renew = () => timed.runner.renewLeases({ runnerId: 'rnr_1', leases: [locked, other] });
    clock.advance(10_000);
    const unlock = await lockHead(locked.sessionId, timed);
    try {
      expect(await renew()).toMatchObject({ lostTurnIds: [], unextendedTurnIds: [locked.turnId] });
    } finally {
      await unlock();
    }
    expect(await renew()).toMatchObject({ lostTurnIds: [], unextendedTurnIds: [other.turnId] });
  });

  it('answers a report with DEPENDENCY_UNAVAILABLE after a second, and appends it once when it is sent again', async () => {
    const [turn] = await startTurns(1);
    if (!turn) throw new Error('no turn');
    const report = reportFor(turn, 1, { events: [newEvent('once')] });
    const unlock = await lockHead(turn.sessionId);
    try {
      expect(await sendReports(system, report)).toMatchObject([{ errorCode: 'DEPENDENCY_UNAVAILABLE' }]);
    } finally {
      await unlock();
    }
    expect(await sendReports(system, report)).toEqual([APPENDED]);
    expect(await sendReports(system, reportFor(turn, 2, { outcome: COMPLETED }))).toEqual([APPENDED]);
    const types = typesOf(await journalOf(system, turn.sessionId));
    expect(types.filter((type) => type === 'model.request_started')).toHaveLength(1);
  });

  it('is changed as soon as the lock is released', async () => {
    const [turn] = await startTurns(1);
    if (!turn) throw new Error('no turn');
    const unlock = await lockHead(turn.sessionId);
    const sent = sendReports(system, reportFor(turn, 1, { outcome: COMPLETED }));
    await until('the report waits for the lock', async () => {
      const waiting = `select count(*) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      return (await countOn(system.database.url, waiting)) > 0;
    });
    await unlock();
    expect(await sent).toEqual([APPENDED]);
    await until('the session is idle', async () => {
      const { session } = await system.edge.getSession({ sessionId: turn.sessionId }, { caller: OWNER });
      return session?.status === 'idle';
    });
  });
});
