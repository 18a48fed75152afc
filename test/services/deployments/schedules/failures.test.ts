import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { refuse } from '../../../../lib/errors.ts';
import type { Run } from '../../../../proto/gen/ahs/deployments/v1/schedules.ts';
import { AGENT, OWNER } from '../system.ts';
import { asOwner, openScheduleSystem, outcomesOf, type ScheduleSystem } from './fixtures.ts';

describe('runs that cannot start', () => {
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

  const codeOf = (run: Run | undefined) => (run?.errorJson ? JSON.parse(run.errorJson).code : undefined);
  const read = async (deploymentId: string) =>
    (await system.edge.getDeployment({ agentId: '', deploymentId }, asOwner)).deployment;

  const obstacles: [string, () => void][] = [
    ['owner_disabled', () => void system.fakes.users.set(OWNER.userId, { enabled: false })],
    ['agent_deleted', () => void system.fakes.agents.delete(AGENT)],
    ['agent_disabled', () => changeAgent({ enabled: false })],
    ['environment_disabled', () => changeAgent({ environmentDisabled: true })],
    ['agent_deleted', () => changeAgent({ ownerId: 'usr_00000000000000000000000009' })],
  ];

  function changeAgent(change: object): void {
    const agent = system.fakes.agents.get(AGENT);
    if (agent) system.fakes.agents.set(AGENT, { ...agent, ...change });
  }

  it.each(obstacles)('fail with DEPLOYMENT_CANNOT_START and the reason %s', async (reason, change) => {
    const { deploymentId } = await system.create();
    change();
    system.clock.advance(2_000);
    const [run] = await system.nextMinute(deploymentId, 1);
    expect(run).toMatchObject({ status: 'failed', reason, sessionId: '', startedAt: undefined });
    expect(codeOf(run)).toBe('DEPLOYMENT_CANNOT_START');
    expect(system.scheduled.sessions.size).toBe(0);
  });

  it('pause the schedule after five in a row, with the reason', async () => {
    const { deploymentId } = await system.create();
    changeAgent({ enabled: false });
    system.clock.advance(2_000);
    for (let count = 1; count <= 5; count++) await system.nextMinute(deploymentId, count);
    const deployment = await read(deploymentId);
    expect(deployment?.status).toBe('disabled');
    expect(deployment?.scheduleStatus).toMatchObject({ pausedReason: 'cannot_start', nextAt: undefined });
    expect(deployment?.revision).toBe(1);
    expect(outcomesOf(await system.runsOf(deploymentId))).toEqual(Array(5).fill('failed agent_disabled'));
    const enabled = await system.edge.enableDeployment({ agentId: AGENT, deploymentId }, asOwner);
    expect(enabled.deployment?.scheduleStatus).toMatchObject({ pausedReason: '', nextAt: expect.any(Date) });
  });

  it('count from the last run that started', async () => {
    const { deploymentId } = await system.create({ pauseAfterFailures: 2, overlap: 'allow' });
    for (const enabled of [false, true, false, true]) {
      changeAgent({ enabled });
      system.clock.advance(2_000);
      await system.nextMinute(deploymentId, (await system.runsOf(deploymentId)).length + 1);
    }
    expect((await read(deploymentId))?.status).toBe('enabled');
  });

  it('never pause the schedule when pause_after_failures is 0', async () => {
    const { deploymentId } = await system.create({ pauseAfterFailures: 0 });
    changeAgent({ enabled: false });
    system.clock.advance(2_000);
    for (let count = 1; count <= 6; count++) await system.nextMinute(deploymentId, count);
    expect((await read(deploymentId))?.status).toBe('enabled');
  });

  it('over the quota fail with QUOTA_EXCEEDED and do not count for the pause', async () => {
    const { deploymentId } = await system.create({ pauseAfterFailures: 1 });
    system.scheduled.failure = refuse('QUOTA_EXCEEDED', 'The daily limit is reached.');
    system.scheduled.allowsLookUps = true;
    const [run] = await system.nextMinute(deploymentId, 1);
    expect(run).toMatchObject({ status: 'failed', reason: 'quota_exceeded' });
    expect(codeOf(run)).toBe('QUOTA_EXCEEDED');
    expect((await read(deploymentId))?.status).toBe('enabled');
  });

  it('failed turns pause the schedule only when count_failed_turns is set', async () => {
    for (const [countFailedTurns, status] of [
      [false, 'enabled'],
      [true, 'disabled'],
    ] as const) {
      const { deploymentId } = await system.create({ pauseAfterFailures: 1, countFailedTurns });
      const [run] = await system.nextMinute(deploymentId, 1);
      await system.complete(run!, 'max_steps_reached');
      expect((await read(deploymentId))?.status).toBe(status);
      await system.sql('delete from deployments');
    }
  });

  it('are tried again while sessions is unavailable, at least for five minutes, and then fail', async () => {
    const { deploymentId } = await system.create({ catchUpSeconds: 0 });
    system.scheduled.failure = refuse('DEPENDENCY_UNAVAILABLE', 'no sessions');
    const firstRun = async () => (await system.runsOf(deploymentId))[0];
    const first = await system.pass(
      'the first run has failed',
      async () => {
        const run = await firstRun();
        return run?.status === 'failed' ? run : undefined;
      },
      5_000,
    );
    expect(first).toMatchObject({ status: 'failed', reason: 'unavailable' });
    expect(codeOf(first)).toBe('DEPENDENCY_UNAVAILABLE');
    expect(first.finishedAt!.getTime() - first.createdAt!.getTime()).toBeGreaterThanOrEqual(300_000);
    expect((await read(deploymentId))?.status).toBe('enabled');
  });

  it('start when sessions is available again', async () => {
    const { deploymentId } = await system.create();
    system.scheduled.failure = refuse('DEPENDENCY_UNAVAILABLE', 'no sessions');
    await system.pass('three attempts have failed', () => system.scheduled.starts >= 3);
    system.scheduled.failure = undefined;
    const [run] = await system.settled(deploymentId, 1);
    expect(run?.status).toBe('running');
    expect(run?.latenessMs).toBeGreaterThan(0);
  });
});
