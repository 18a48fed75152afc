import { describe, expect, it } from 'vitest';
import { createCompiledTimings } from '../../../../services/deployments/schedules/compiled-timings.ts';
import { startMissingTimes } from '../../../../services/deployments/schedules/missing-times.ts';
import { createScheduleTimes } from '../../../../services/deployments/schedules/schedule-times.ts';
import type { MissingTimeStore } from '../../../../services/deployments/store/missing-times.ts';
import type { NextTime } from '../../../../services/deployments/store/next-times.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { createFakeClock } from '../../../support/clock.ts';
import { asOwner, openScheduleSystem } from './fixtures.ts';
import { atTiming } from './timings.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe('upkeep of schedules', () => {
  it('recomputes next times after a change of the time zone data, and logs how many have moved', async () => {
    await using system = await openScheduleSystem();
    const timing = { cron: '0 8 * * *', timezone: 'Europe/Berlin', everySeconds: undefined, at: undefined };
    const created = await system.create({
      timing: { ...timing, startAt: undefined, endAt: undefined, dst: undefined },
    });
    const { nextAt } = created.deployment.scheduleStatus!;
    await system.pass('the version is stored', async () => {
      return (await system.sql('select from time_zone_data')).length === 1;
    });
    await system.stop();
    await system.sql(
      `update schedules set next_at = next_at + interval '1 hour', due_at = due_at + interval '1 hour'`,
    );
    await system.sql(`update time_zone_data set version = 'an older one'`);
    const { clock, fakes, context } = system;
    await using reopened = await openScheduleSystem({ clock, fakes, databaseUrl: context.databaseUrl });
    const line = await reopened.pass('the change is logged', () =>
      reopened.lines.find((text) => text.includes('time zone data has changed')),
    );
    expect(JSON.parse(line)).toMatchObject({ moved: 1, from: 'an older one' });
    const [row] = await reopened.sql<{ nextAt: Date }>('select next_at as "nextAt" from schedules');
    expect(row?.nextAt).toEqual(nextAt);
  });

  it('computes the next times of schedules that were disabled and enabled by the previous release', async () => {
    await using system = await openScheduleSystem();
    const lost = await system.create();
    const disabled = await system.create();
    await system.edge.disableDeployment(
      { agentId: disabled.agentId, deploymentId: disabled.deploymentId },
      asOwner,
    );
    const none = { cron: undefined, timezone: 'UTC', everySeconds: undefined, at: undefined };
    const more = { startAt: undefined, endAt: undefined, dst: undefined };
    const at = new Date(system.clock.now().getTime() + 1_000);
    const once = await system.create({ timing: { ...none, ...more, at } });
    await system.settled(once.deploymentId, 1);
    await system.sql(
      `update schedules set next_at = null, due_at = null where deployment_id = '${lost.deploymentId}'`,
    );
    const pass = (until: () => Promise<boolean>) => system.pass('there is a next time', until, 10_000);
    const timesOf = () =>
      system.sql<{ deploymentId: string; nextAt: Date | null; dueAt: Date | null }>(
        'select deployment_id as "deploymentId", next_at as "nextAt", due_at as "dueAt" from schedules',
      );
    await pass(async () => (await system.runsOf(lost.deploymentId)).length > 0);
    const lines = system.lines.filter((line) => line.includes('enabled schedules had no next time'));
    expect(lines.map((line) => JSON.parse(line).schedules)).toEqual([1]);
    const times = new Map((await timesOf()).map((row) => [row.deploymentId, row]));
    expect(times.get(lost.deploymentId)?.nextAt).toEqual(times.get(lost.deploymentId)?.dueAt);
    expect(times.get(lost.deploymentId)?.nextAt).not.toBeNull();
    for (const { deploymentId } of [disabled, once])
      expect(times.get(deploymentId)).toMatchObject({ nextAt: null, dueAt: null });
  });

  it('does not compute a time again that is fired while the rows are read', async () => {
    const clock = createFakeClock();
    const createdAt = clock.now();
    const at = new Date(createdAt.getTime() + 500);
    const once = { deploymentId: 'dep_1', createdAt, jitterSeconds: 0, timing: atTiming(at.toISOString()) };
    const computed: NextTime[] = [];
    const store: MissingTimeStore = {
      async compute(_after, _now, compute) {
        computed.push(compute(once));
        clock.advance(1_000);
        computed.push(compute(once));
        return { found: 1, last: undefined };
      },
    };
    const times = createScheduleTimes({ timings: createCompiledTimings(), clock });
    const task = startMissingTimes({ store, times, clock, log: captureLog().log });
    clock.advance(0);
    await task.stop();
    expect(computed).toEqual([
      { nextAt: at, dueAt: at },
      { nextAt: null, dueAt: null },
    ]);
  });

  it('deletes runs that are older than the history, with the backfills and prompts that only they used', async () => {
    await using system = await openScheduleSystem();
    const { agentId, deploymentId } = await system.create();
    await system.edge.disableDeployment({ agentId, deploymentId }, asOwner);
    const run = { agentId, deploymentId, prompt: 'Once', idempotencyKey: '' };
    await system.edge.runNow(run, asOwner);
    const [started] = await system.settled(deploymentId, 1);
    await system.complete(started!);
    expect(await system.sql('select from prompts')).toHaveLength(2);
    const isDeleted = async () => (await system.runsOf(deploymentId)).length === 0;
    system.clock.advance(399 * DAY_MS);
    expect(await isDeleted()).toBe(false);
    system.clock.advance(DAY_MS);
    await system.pass('the run is deleted', isDeleted, HOUR_MS);
    const prompts = async () => (await system.sql('select from prompts')).length;
    await system.pass('the prompt is deleted', async () => (await prompts()) === 1, HOUR_MS);
  });
});
