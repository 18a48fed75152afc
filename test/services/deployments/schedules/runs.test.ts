import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { withPrefix } from '../../../../lib/ids.ts';
import { AGENT, OWNER } from '../system.ts';
import { asOwner, openScheduleSystem, outcomesOf, type ScheduleSystem, timesOf } from './fixtures.ts';

describe('runs of a schedule', () => {
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

  it('start one session per scheduled time, owned by the creator, with the characters of the run id', async () => {
    const { deploymentId } = await system.create({ prompt: 'Work for {{scheduled_for}}.' });
    const [run] = await system.nextMinute(deploymentId, 1);
    expect(run).toMatchObject({
      deploymentId,
      trigger: 'scheduled',
      status: 'running',
      reason: '',
      count: 1,
      sessionId: withPrefix('ses', run!.runId),
      turnId: withPrefix('trn', run!.runId),
      errorJson: '',
      createdBy: '',
    });
    expect(run!.scheduledFor!.getTime() % 60_000).toBe(0);
    expect(run!.latenessMs).toBe(run!.startedAt!.getTime() - run!.scheduledFor!.getTime());
    expect([...system.scheduled.sessions.values()]).toEqual([
      expect.objectContaining({ createdBy: OWNER.userId, agentId: AGENT, agentVersion: 7 }),
    ]);
    const time = run!.scheduledFor!.toISOString().replace('.000', '');
    expect(system.scheduled.turnOf(run!.runId).text).toBe(`Work for ${time}.`);
  });

  it('follow their turns: waiting, running again, and succeeded with usage and stop reason', async () => {
    const { deploymentId } = await system.create();
    const [run] = await system.nextMinute(deploymentId, 1);
    const statusIs = (status: string) =>
      system.pass(
        `the run is ${status}`,
        async () => (await system.runsOf(deploymentId))[0]?.status === status,
      );
    system.scheduled.move(run!.turnId, { status: 'blocked', stopReasonJson: '{"type":"requires_action"}' });
    await statusIs('waiting');
    system.scheduled.move(run!.turnId, { status: 'in_progress', stopReasonJson: '' });
    await statusIs('running');
    const ended = await system.complete(run!);
    expect(ended).toMatchObject({ status: 'succeeded', reason: '', stopReasonJson: '{"type":"end_turn"}' });
    expect(JSON.parse(ended.usageJson)).toMatchObject({ output_tokens: 2 });
    expect(ended.finishedAt).toBeInstanceOf(Date);
    // Signals are confirmed after their runs are stored.
    await system.pass('all signals are confirmed', () => system.scheduled.signals.length === 0);
  });

  it('fail with the stop reason of a turn that reaches a limit', async () => {
    const { deploymentId } = await system.create();
    const [run] = await system.nextMinute(deploymentId, 1);
    expect(await system.complete(run!, 'max_steps_reached')).toMatchObject({
      status: 'failed',
      reason: 'max_steps_reached',
    });
  });

  it('are found by a lookup when their signal was lost', async () => {
    const { deploymentId } = await system.create();
    const [run] = await system.nextMinute(deploymentId, 1);
    system.scheduled.isSignalling = false;
    system.scheduled.complete(run!.turnId, system.clock.now());
    expect((await system.finished(run!)).status).toBe('succeeded');
  });

  it('end as interrupted when their session is deleted', async () => {
    const { deploymentId } = await system.create();
    const [run] = await system.nextMinute(deploymentId, 1);
    system.scheduled.deleteSession(run!.sessionId);
    expect(await system.finished(run!)).toMatchObject({ status: 'interrupted', reason: 'session_deleted' });
  });

  it('are listed newest first, with filters, and summarized in the schedule', async () => {
    const { deploymentId, deployment } = await system.create({ overlap: 'allow' });
    const first = (await system.nextMinute(deploymentId, 1))[0]!;
    const runs = await system.nextMinute(deploymentId, 2);
    await system.complete(first);
    const list = async (filter: object) => {
      const page = { limit: 10, cursor: '' };
      const request = {
        agentId: AGENT,
        deploymentId,
        page,
        status: '',
        trigger: '',
        from: undefined,
        until: undefined,
      };
      return (await system.edge.listRuns({ ...request, ...filter }, asOwner)).runs.map(({ runId }) => runId);
    };
    const [one, two] = runs.map(({ runId }) => runId);
    expect(await list({})).toEqual([two, one]);
    expect(await list({ status: 'succeeded' })).toEqual([one]);
    expect(await list({ trigger: 'manual' })).toEqual([]);
    expect(await list({ from: runs[1]!.scheduledFor })).toEqual([two]);
    expect(await list({ until: runs[1]!.scheduledFor })).toEqual([one]);
    const read = await system.edge.getDeployment({ agentId: AGENT, deploymentId }, asOwner);
    expect(read.deployment?.scheduleStatus).toMatchObject({
      lastRun: { runId: two, status: 'running', sessionId: runs[1]!.sessionId },
    });
    expect(read.deployment?.scheduleStatus?.upcoming).toHaveLength(5);
    expect(read.deployment?.revision).toBe(deployment.revision);
    expect(timesOf(runs)).toHaveLength(2);
    expect(outcomesOf(runs)).toEqual(['running', 'running']);
  });
});
