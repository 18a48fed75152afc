import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallOptions } from '../../../lib/grpc/contract.ts';
import { createFakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { countOn, openConnection } from '../../support/sql.ts';
import { until } from '../../support/wait.ts';
import {
  AGENT,
  COMPLETED,
  claimTurns,
  createConversation,
  OWNER,
  openReplica,
  openSystem,
  reportFor,
  type SessionsSystem,
  STRANGER,
  sendReports,
} from './system.ts';

const WAIT_MS = 20_000;
const TIMEOUT_MS = 60_000;

const waitFor = (system: SessionsSystem, runnerId: string, slots = 1, options: CallOptions = {}) =>
  system.runner.claimTurns({ runnerId, slots, waitMs: WAIT_MS }, { timeoutMs: TIMEOUT_MS, ...options });

/** The number of searches for ready turns since the system was opened. */
async function searches(system: SessionsSystem): Promise<number> {
  const text = await system.context.metrics.text();
  const line = /ahs_db_statement_duration_seconds_count\{[^}]*"sessions\.ready_turns"[^}]*\} (\d+)/.exec(
    text,
  );
  return Number(line?.[1] ?? 0);
}

describe.each(TRANSPORTS)('waiting claims over %s', (transport) => {
  const clock = createFakeClock();
  let system: Awaited<ReturnType<typeof openSystem>>;
  beforeAll(async () => {
    system = await openSystem(transport, { clock });
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const end = async (...turns: Awaited<ReturnType<typeof claimTurns>>) =>
    sendReports(system, ...turns.map((turn) => reportFor(turn, 1, { outcome: COMPLETED })));
  /** Resolves when the claims that were sent before have reached the service and no turn was ready. */
  const arrived = async () => expect(await claimTurns(system, 1, 'rnr_probe')).toEqual([]);

  it('are answered when a turn is queued, each turn to one runner', async () => {
    const claims = [waitFor(system, 'rnr_1'), waitFor(system, 'rnr_2')];
    await arrived();
    const sessionIds = [await createConversation(system, 'one'), await createConversation(system, 'two')];
    const turns = (await Promise.all(claims)).flatMap((answer) => answer.turns);
    expect(turns.map(({ sessionId }) => sessionId).sort()).toEqual(sessionIds.sort());
    await end(...turns);
  });

  it('divide the turns of one pick among the runners', async () => {
    await Promise.all([1, 2, 3, 4].map((n) => createConversation(system, `${n}`)));
    const answers = await Promise.all([waitFor(system, 'rnr_1', 4), waitFor(system, 'rnr_2', 4)]);
    expect(answers.map(({ turns }) => turns.length)).toEqual([2, 2]);
    await end(...answers.flatMap(({ turns }) => turns));
  });

  it('are answered without turns when the time to wait has passed', async () => {
    const claim = waitFor(system, 'rnr_1');
    await arrived();
    clock.advance(WAIT_MS);
    expect(await claim).toEqual({ turns: [], leaseMs: 15_000, waitedMs: WAIT_MS });
  });

  it('return how long they waited before the leases began', async () => {
    const claim = waitFor(system, 'rnr_1');
    await arrived();
    clock.advance(4_000);
    await createConversation(system, 'later');
    const { turns, waitedMs } = await claim;
    expect(waitedMs).toBe(4_000);
    await end(...turns);
  });

  it('get no turns after their runner has left', async () => {
    const runner = new AbortController();
    const claim = waitFor(system, 'rnr_1', 1, { signal: runner.signal });
    await arrived();
    runner.abort();
    await expect(claim).rejects.toMatchObject({ code: 'CANCELLED' });
    await arrived();
    const sessionId = await createConversation(system, 'for another runner');
    const [turn] = await claimTurns(system, 1, 'rnr_2');
    expect(turn).toMatchObject({ sessionId, attempt: 1 });
    if (turn) await end(turn);
  });

  it('hand their turns back when their runner leaves while the turns are leased', async () => {
    const sessionId = await createConversation(system, 'handed back');
    const runner = new AbortController();
    await using other = await openConnection(system.database.url);
    await other.query('begin; lock table sessions.journal in exclusive mode');
    const claim = waitFor(system, 'rnr_1', 1, { signal: runner.signal });
    await until('the pick waits for the lock', async () => {
      const waiting = `select count(*) from pg_locks where not granted and relation = 'sessions.journal'::regclass`;
      return (await countOn(system.database.url, waiting)) > 0;
    });
    runner.abort();
    await expect(claim).rejects.toMatchObject({ code: 'CANCELLED' });
    // The service gets a later call after the cancellation.
    await system.runner.renewLeases({ runnerId: 'rnr_1', leases: [] });
    await other.query('commit');
    const turn = await until(
      'the turn is ready again',
      async () => (await claimTurns(system, 1, 'rnr_2'))[0],
    );
    expect(turn).toMatchObject({ sessionId, attempt: 2 });
    await end(turn);
  });

  it('end when their runner asks for it, or claims again', async () => {
    const first = waitFor(system, 'rnr_1');
    await arrived();
    const second = waitFor(system, 'rnr_1');
    expect((await first).turns).toEqual([]);
    await system.runner.claimTurns({ runnerId: 'rnr_1', slots: 0, waitMs: 0 });
    expect((await second).turns).toEqual([]);
  });

  it.each([{ slots: -1 }, { slots: 1_001 }, { waitMs: -1 }, { waitMs: 20_001 }])(
    'refuse %o as invalid',
    async (invalid) => {
      const request = { runnerId: 'rnr_1', slots: 1, waitMs: 0, ...invalid };
      await expect(system.runner.claimTurns(request)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    },
  );

  it('start a turn of another user before the queued turns of the first one', async () => {
    await Promise.all(Array.from({ length: 12 }, (_, n) => createConversation(system, `${n}`)));
    const before = await claimTurns(system, 1);
    const sessionId = await createConversation(system, 'mine', AGENT, STRANGER);
    const next = await claimTurns(system, 2);
    expect(next.map((turn) => turn.ownerId).sort()).toEqual([OWNER.userId, STRANGER.userId].sort());
    expect(next.map((turn) => turn.sessionId)).toContain(sessionId);
    await end(...before, ...next, ...(await claimTurns(system, 20)));
  });

  it('make at most ten picks a second for 40 idle runners while hints arrive', async () => {
    const stop = new AbortController();
    const claims = Array.from({ length: 40 }, (_, n) =>
      waitFor(system, `rnr_${n}`, 10, { signal: stop.signal }).catch(() => {}),
    );
    await arrived();
    const before = await searches(system);
    for (let tenth = 0; tenth < 20; tenth++) {
      for (let n = 0; n < 5; n++) system.context.bus.publish('turns.ready', '');
      await new Promise((resolve) => setTimeout(resolve, 5));
      clock.advance(100);
    }
    // A search is counted when it has ended.
    await until('a pick has ended', async () => (await searches(system)) > before);
    expect((await searches(system)) - before).toBeLessThanOrEqual(20);
    stop.abort();
    await Promise.all(claims);
  });
});

describe('waiting claims after many claims that did not wait', () => {
  it('get a turn that is queued within 200 ms', async () => {
    const clock = createFakeClock();
    await using system = await openSystem('in process', { clock });
    for (let attempt = 0; attempt < 30; attempt++) await claimTurns(system, 1, 'rnr_probe');
    const claim = waitFor(system, 'rnr_1');
    await createConversation(system, 'queued');
    clock.advance(200);
    expect((await claim).turns).toHaveLength(1);
  });
});

describe('waiting claims of a stopping instance', () => {
  it('end at once, and later ones do not wait', async () => {
    await using system = await openSystem('in process');
    const claim = waitFor(system, 'rnr_1');
    expect(await claimTurns(system, 1, 'rnr_probe')).toEqual([]);
    await system.drain();
    expect((await claim).turns).toEqual([]);
    expect(await waitFor(system, 'rnr_1')).toEqual({ turns: [], leaseMs: 15_000, waitedMs: 0 });
  });
});

describe('picks of two instances at the same time', () => {
  it('start each turn once and no more turns of an agent than its limit', async () => {
    const limit = { maxTurnsPerAgent: 5 };
    await using here = await openSystem('in process', {}, limit);
    await using there = await openReplica('in process', here.context, limit);
    await Promise.all(Array.from({ length: 12 }, (_, n) => createConversation(here, `${n}`)));
    const started: Awaited<ReturnType<typeof claimTurns>> = [];
    const claimOnBoth = async () => {
      const claims = [here, there].flatMap((system) => [
        claimTurns(system, 4),
        claimTurns(system, 4, 'rnr_2'),
      ]);
      const turns = (await Promise.all(claims)).flat();
      started.push(...turns);
      return turns;
    };
    const first = await claimOnBoth();
    expect(first.length).toBeGreaterThan(0);
    expect(started.length + (await claimOnBoth()).length).toBeLessThanOrEqual(10);
    expect(started).toHaveLength(5);
    // The end of a turn makes room for another one, which a waiting claim gets without a poll.
    const waiting = waitFor(here, 'rnr_3');
    const [ended] = started;
    if (ended) await sendReports(here, reportFor(ended, 1, { outcome: COMPLETED }));
    started.push(...(await waiting).turns);
    expect(new Set(started.map(({ turnId }) => turnId)).size).toBe(6);
  });
});
