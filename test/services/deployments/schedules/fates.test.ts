import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { refuse } from '../../../../lib/errors.ts';
import { createFakeClock } from '../../../support/clock.ts';
import { until } from '../../../support/wait.ts';
import { openScheduleSystem, outcomesOf, type ScheduleSystem, timesOf } from './fixtures.ts';

const HOUR_MS = 3_600_000;

describe('the fates of scheduled times', () => {
  let system: ScheduleSystem;
  beforeAll(async () => {
    system = await openScheduleSystem();
  });
  afterAll(() => system?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    system.reset();
    system.scheduled.clear();
    await system.sql('delete from deployments');
  });

  /** A downtime: no ticker runs while the clock goes on. */
  async function downtime(ms: number) {
    const { clock, context, fakes } = system;
    await system.stop();
    clock.advance(ms);
    system = await openScheduleSystem({ clock, fakes, databaseUrl: context.databaseUrl });
  }

  it('after a downtime, the newest time in the catch-up window starts and the others are missed', async () => {
    await using own = await openScheduleSystem();
    system = own;
    const { deploymentId } = await system.create({ catchUpSeconds: 600 });
    await downtime(HOUR_MS);
    await using reopened = system;
    // The clock must not pass the end of the window before the times are fired.
    await until('the times are fired', async () => (await reopened.runsOf(deploymentId)).length >= 3);
    const runs = await reopened.settled(deploymentId, 3);
    expect(outcomesOf(runs)).toEqual(['missed outside_catch_up', 'missed superseded', 'running']);
    expect(runs.map(({ count }) => count).reduce((sum, count) => sum + count)).toBe(60);
    expect(timesOf(runs)).toEqual(['00:01', '00:50', '01:00']);
    expect(runs[0]?.scheduledUntil?.toISOString()).toContain('00:49');
    expect(reopened.scheduled.sessions.size).toBe(1);
  });
});

describe('the two commits of a run', () => {
  let system: ScheduleSystem;
  beforeAll(async () => {
    system = await openScheduleSystem();
  });
  afterAll(() => system?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    system.reset();
    system.scheduled.clear();
    await system.sql('delete from deployments');
  });

  it('start one session when the answer of CreateSession was lost', async () => {
    const { deploymentId } = await system.create();
    system.scheduled.losesAnswers = true;
    await system.pass('the session was created', () => {
      return system.scheduled.sessions.size > 0;
    });
    system.scheduled.losesAnswers = false;
    const [run] = await system.settled(deploymentId, 1);
    expect(run).toMatchObject({ status: 'running', sessionId: [...system.scheduled.sessions.keys()][0] });
    expect(system.scheduled.starts).toBeGreaterThan(1);
    expect(system.scheduled.sessions.size).toBe(1);
  });

  it('start a run whose process was killed after it had claimed the run', async () => {
    const { deploymentId } = await system.create();
    system.scheduled.failure = refuse('DEPENDENCY_UNAVAILABLE', 'no sessions');
    await system.pass('the run is queued', async () => (await system.runsOf(deploymentId)).length > 0);
    await system.pass('an attempt has failed', () => system.scheduled.starts > 0);
    // The lease of the killed process.
    await system.sql(`update runs set ready_at = $1, failing_since = null where status = 'queued'`, [
      new Date(system.clock.now().getTime() + 30_000),
    ]);
    system.scheduled.failure = undefined;
    const [run] = await system.settled(deploymentId, 1);
    expect(run?.status).toBe('running');
    expect(system.scheduled.sessions.size).toBe(1);
  });

  it('of two services that share a database make one run and one session of each time', async () => {
    const clock = createFakeClock();
    await using one = await openScheduleSystem({ clock });
    await using other = await openScheduleSystem({
      clock,
      fakes: one.fakes,
      databaseUrl: one.context.databaseUrl,
    });
    const schedules = [];
    for (let count = 0; count < 5; count++) schedules.push(await one.create({ overlap: 'allow' }));
    const minutes = 5;
    for (let passed = 1; passed <= minutes; passed++) {
      clock.advance(60_000);
      for (const { deploymentId } of schedules) await other.settled(deploymentId, passed);
    }
    for (const { deploymentId } of schedules) {
      const runs = await one.runsOf(deploymentId);
      const times = timesOf(runs);
      expect(new Set(times).size).toBe(times.length);
      expect(times.slice(0, minutes)).toEqual(['00:01', '00:02', '00:03', '00:04', '00:05']);
    }
    const rows = await one.sql<{ status: string }>(`select status from runs where status = 'running'`);
    expect(one.scheduled.sessions.size).toBe(rows.length);
  });

  it('queue no second run for a time that is fired again', async () => {
    const { deploymentId } = await system.create({ overlap: 'allow' });
    await system.nextMinute(deploymentId, 1);
    const before = await system.runsOf(deploymentId);
    await system.sql('update schedules set next_at = r.scheduled_for, due_at = r.scheduled_for from runs r');
    const runs = await system.nextMinute(deploymentId, before.length + 1);
    const times = timesOf(runs);
    expect(new Set(times).size).toBe(times.length);
  });

  it('join the trace of the session to the trace of the start', async () => {
    const { deploymentId } = await system.create();
    const [run] = await system.nextMinute(deploymentId, 1);
    const [row] = await system.sql<{ traceparent: string }>(
      'select traceparent from runs where run_id = $1',
      [run!.runId],
    );
    expect(row?.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/);
    expect(system.scheduled.sessions.get(run!.sessionId)?.traceId).toMatch(/^[0-9a-f]{32}$/);
  });
});
