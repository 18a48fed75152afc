import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OWNER } from '../system.ts';
import { openScheduleSystem, outcomesOf, type ScheduleSystem, timesOf } from './fixtures.ts';

describe('the overlap policy of a schedule', () => {
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

  /** Advances one minute and waits until the schedule has `count` runs, which can be queued. */
  async function minute(deploymentId: string, count: number) {
    system.clock.advance(60_000 - (system.clock.now().getTime() % 60_000));
    return system.pass(`the schedule has ${count} runs`, async () => {
      const runs = await system.runsOf(deploymentId);
      return runs.length >= count ? runs : undefined;
    });
  }

  it('skip: leaves a time out while the previous run is not finished', async () => {
    const { deploymentId } = await system.create();
    const [first] = await system.nextMinute(deploymentId, 1);
    await system.nextMinute(deploymentId, 2);
    await system.complete(first!);
    const runs = await system.nextMinute(deploymentId, 3);
    expect(outcomesOf(runs)).toEqual(['succeeded', 'skipped overlap', 'running']);
    expect(runs[1]).toMatchObject({ sessionId: '', count: 1 });
    expect(system.scheduled.sessions.size).toBe(2);
  });

  it('skip: asks the sessions service about a turn whose signal was lost', async () => {
    const { deploymentId } = await system.create();
    const [first] = await system.nextMinute(deploymentId, 1);
    system.scheduled.isSignalling = false;
    system.scheduled.complete(first!.turnId, system.clock.now());
    const runs = await system.nextMinute(deploymentId, 2);
    expect(outcomesOf(runs)).toEqual(['succeeded', 'running']);
  });

  it('skip: judges by the last known state while the sessions service is unavailable', async () => {
    const { deploymentId } = await system.create();
    await system.nextMinute(deploymentId, 1);
    system.scheduled.failLookUps = true;
    expect(outcomesOf(await minute(deploymentId, 2))).toEqual(['running', 'skipped overlap']);
  });

  it('buffer_one: one time waits for the end of the previous run, and a second one is skipped', async () => {
    const { deploymentId } = await system.create({ overlap: 'buffer_one' });
    const [first] = await system.nextMinute(deploymentId, 1);
    await minute(deploymentId, 2);
    expect(outcomesOf(await minute(deploymentId, 3))).toEqual(['running', 'queued', 'skipped buffer_full']);
    expect(system.scheduled.sessions.size).toBe(1);
    await system.complete(first!);
    const runs = await system.settled(deploymentId, 3);
    expect(outcomesOf(runs)).toEqual(['succeeded', 'running', 'skipped buffer_full']);
  });

  it('buffer_one: finds the end of the previous run without a signal', async () => {
    const { deploymentId } = await system.create({ overlap: 'buffer_one' });
    const [first] = await system.nextMinute(deploymentId, 1);
    await minute(deploymentId, 2);
    system.scheduled.isSignalling = false;
    system.scheduled.complete(first!.turnId, system.clock.now());
    expect(outcomesOf((await system.settled(deploymentId, 2)).slice(0, 2))).toEqual(['succeeded', 'running']);
  });

  it('allow: runs side by side', async () => {
    const { deploymentId } = await system.create({ overlap: 'allow' });
    await system.nextMinute(deploymentId, 1);
    expect(outcomesOf(await system.nextMinute(deploymentId, 2))).toEqual(['running', 'running']);
    expect(system.scheduled.interrupts).toEqual([]);
  });

  it('cancel_previous: interrupts the previous run as the owner, then starts', async () => {
    const { deploymentId } = await system.create({ overlap: 'cancel_previous' });
    const [first] = await system.nextMinute(deploymentId, 1);
    await system.nextMinute(deploymentId, 2);
    expect(system.scheduled.interrupts).toEqual([
      { turnId: first!.turnId, userId: OWNER.userId, actor: { type: 'schedule', deploymentId, runId: '' } },
    ]);
    expect((await system.finished(first!)).status).toBe('interrupted');
    const runs = await system.runsOf(deploymentId);
    expect(outcomesOf(runs)).toEqual(['interrupted', 'running']);
    expect(timesOf(runs)).toHaveLength(2);
  });

  it('the runs of a backfill do not delay scheduled times', async () => {
    const { deploymentId, agentId } = await system.create();
    const until = system.clock.now();
    const range = { from: new Date(until.getTime() - 120_000), until, overlap: 'allow', skipExisting: true };
    await system.edge.createBackfill(
      { agentId, deploymentId, ...range, dryRun: false, idempotencyKey: '' },
      { caller: OWNER },
    );
    await system.settled(deploymentId, 2);
    const runs = await system.nextMinute(deploymentId, 3);
    expect(runs.at(-1)).toMatchObject({ trigger: 'scheduled', status: 'running' });
  });
});
