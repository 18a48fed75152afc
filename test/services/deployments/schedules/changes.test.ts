import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { refuse } from '../../../../lib/errors.ts';
import type { UpdateDeploymentRequest } from '../../../../proto/gen/ahs/deployments/v1/deployments.ts';
import type { ScheduleChange, TimingChange } from '../../../../proto/gen/ahs/deployments/v1/schedules.ts';
import { AGENT, referenceTo } from '../system.ts';
import {
  asOwner,
  EVERY_MINUTE,
  openScheduleSystem,
  outcomesOf,
  type ScheduleSystem,
  scheduleRequest,
} from './fixtures.ts';

const NO_CHANGE = {
  replacesKind: false,
  at: undefined,
  startAt: undefined,
  endAt: undefined,
  dst: undefined,
} satisfies TimingChange;

describe('changes of schedules', () => {
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

  type Changes = Partial<Omit<UpdateDeploymentRequest, 'schedule'>> & { schedule?: Partial<ScheduleChange> };
  const update = async (deploymentId: string, { schedule, ...changes }: Changes) =>
    system.edge.updateDeployment(
      {
        ...{ agentId: AGENT, deploymentId, metadata: undefined, ifRevisions: undefined, ...changes },
        schedule: schedule && { timing: undefined, ...schedule },
      },
      asOwner,
    );
  const read = async (deploymentId: string) =>
    (await system.edge.getDeployment({ agentId: AGENT, deploymentId }, asOwner)).deployment!;

  it('CreateDeployment returns the schedule with its next times', async () => {
    const request = { ...scheduleRequest(), metadata: { team: 'blue' } };
    const { deployment, sharedSecret, sealedSharedSecret } = await system.edge.createDeployment(
      request,
      asOwner,
    );
    expect([sharedSecret, sealedSharedSecret]).toEqual([undefined, undefined]);
    const next = new Date(Math.floor(system.clock.now().getTime() / 60_000) * 60_000 + 60_000);
    expect(deployment).toMatchObject({
      type: 'schedule',
      name: 'Morning report',
      metadata: { team: 'blue' },
      revision: 1,
      triggerUrl: '',
      authenticationType: '',
      agentName: 'Order desk',
      schedule: { ...EVERY_MINUTE, timing: expect.objectContaining({ cron: '* * * * *', timezone: 'UTC' }) },
      scheduleStatus: { pausedReason: '', nextAt: next, lastRun: undefined },
    });
    expect(deployment?.scheduleStatus?.upcoming).toHaveLength(5);
    expect(await read(deployment!.deploymentId)).toEqual(deployment);
  });

  it('CreateDeployment is repeated with the same key without a second schedule', async () => {
    const request = { ...scheduleRequest(), idempotencyKey: 'schedule' };
    const first = await system.edge.createDeployment(request, asOwner);
    expect(await system.edge.createDeployment(request, asOwner)).toEqual({ ...first, replayed: true });
    expect(await system.sql('select from schedules')).toHaveLength(1);
  });

  it.each([
    ['/cron', { timing: { ...EVERY_MINUTE.timing!, cron: '* * * *' } }],
    ['/timezone', { timing: { ...EVERY_MINUTE.timing!, timezone: 'Mars/Olympus' } }],
    ['/overlap', { overlap: 'sometimes' }],
    ['/jitter_seconds', { jitterSeconds: 31 }],
  ])(
    'CreateDeployment refuses a fault at %s with INVALID_SCHEDULE and stores nothing',
    async (pointer, changes) => {
      await expect(system.create(changes)).rejects.toMatchObject({
        code: 'INVALID_SCHEDULE',
        details: [{ pointer }],
      });
      expect(await system.sql('select from deployments')).toEqual([]);
    },
  );

  it('CreateDeployment refuses one more than 10,000 deployments of an agent', async () => {
    const { deployment } = await system.create();
    await system.sql(
      `insert into deployments (deployment_id, created_by, agent_id, type, status, created_at, updated_at)
       select 'dep_' || lpad(n::text, 26, '0'), $1, $2, 'schedule', 'disabled', now(), now()
       from generate_series(1, 9998) n`,
      [deployment.createdBy, AGENT],
    );
    await system.create();
    await expect(system.create()).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
  });

  it('UpdateDeployment changes members, keeps the others and increments the revision', async () => {
    const { deploymentId, deployment } = await system.create();
    const { deployment: changed } = await update(deploymentId, {
      name: 'Evening report',
      metadata: { entries: { team: 'red' } },
      schedule: { prompt: 'Other work', timing: { ...NO_CHANGE, replacesKind: true, everySeconds: 3_600 } },
    });
    expect(changed).toMatchObject({
      name: 'Evening report',
      metadata: { team: 'red' },
      revision: 2,
      schedule: { prompt: 'Other work', overlap: 'skip', timing: { everySeconds: 3_600, cron: undefined } },
    });
    expect(changed?.scheduleStatus?.nextAt?.getTime()).toBe(deployment.createdAt!.getTime() + 3_600_000);
    expect(await read(deploymentId)).toEqual(changed);
    expect(await system.sql('select from prompts')).toHaveLength(1);
  });

  it('UpdateDeployment refuses a revision that is not expected, and changes nothing', async () => {
    const { deploymentId, deployment } = await system.create();
    const stale = update(deploymentId, { name: 'Other', ifRevisions: { revisions: [7] } });
    await expect(stale).rejects.toMatchObject({ code: 'VERSION_CONFLICT' });
    expect(await read(deploymentId)).toEqual(deployment);
    const { deployment: changed } = await update(deploymentId, {
      name: 'B',
      ifRevisions: { revisions: [1] },
    });
    expect(changed?.revision).toBe(2);
  });

  it('UpdateDeployment refuses another type and every change of a webhook with DEPLOYMENT_IMMUTABLE', async () => {
    const { deploymentId } = await system.create();
    await expect(update(deploymentId, { type: 'webhook' })).rejects.toMatchObject({
      code: 'DEPLOYMENT_IMMUTABLE',
    });
    expect((await update(deploymentId, { type: 'schedule' })).deployment?.revision).toBe(2);
    const { deployment } = await system.edge.createDeployment(
      { ...scheduleRequest(), type: 'webhook', name: '', schedule: undefined },
      asOwner,
    );
    const change = update(deployment!.deploymentId, { name: 'Other' });
    await expect(change).rejects.toMatchObject({ code: 'DEPLOYMENT_IMMUTABLE' });
  });

  it('UpdateDeployment keeps a time that is pending when only other members change', async () => {
    const { deploymentId, deployment } = await system.create({ jitterSeconds: 20 });
    const { nextAt } = deployment.scheduleStatus!;
    const { deployment: changed } = await update(deploymentId, {
      schedule: { overlap: 'allow', jitterSeconds: 0 },
    });
    expect(changed?.scheduleStatus?.nextAt).toEqual(nextAt);
    const [run] = await system.nextMinute(deploymentId, 1);
    expect(run?.scheduledFor).toEqual(nextAt);
  });

  it('a queued run keeps the prompt with which it was queued', async () => {
    const { deploymentId, agentId } = await system.create();
    await system.edge.disableDeployment({ agentId, deploymentId }, asOwner);
    system.scheduled.failure = refuse('DEPENDENCY_UNAVAILABLE', 'no sessions');
    const { run } = await system.edge.runNow({ agentId, deploymentId, idempotencyKey: '' }, asOwner);
    await update(deploymentId, { schedule: { prompt: 'Later work' } });
    system.scheduled.failure = undefined;
    const { run: replay } = await system.edge.replayRun(
      { agentId, deploymentId, runId: run!.runId, idempotencyKey: '' },
      asOwner,
    );
    const runs = await system.settled(deploymentId, 2);
    expect(runs.map(({ runId }) => runId)).toEqual([run?.runId, replay?.runId]);
    for (const { runId } of runs) expect(system.scheduled.turnOf(runId).text).toBe('Do the work.');
  });

  it('disabling cancels queued runs, times that pass leave no rows, and enabling catches up nothing', async () => {
    const { deploymentId } = await system.create({ overlap: 'buffer_one' });
    const [first] = await system.nextMinute(deploymentId, 1);
    system.clock.advance(60_000);
    await system.pass('a run waits', async () => (await system.runsOf(deploymentId)).length === 2);
    const { deployment } = await system.edge.disableDeployment({ agentId: AGENT, deploymentId }, asOwner);
    expect(deployment).toMatchObject({ status: 'disabled', revision: 2, scheduleStatus: { upcoming: [] } });
    expect(deployment?.scheduleStatus?.nextAt).toBeUndefined();
    system.clock.advance(600_000);
    const enabled = await system.edge.enableDeployment({ agentId: AGENT, deploymentId }, asOwner);
    expect(enabled.deployment?.scheduleStatus?.nextAt?.getTime()).toBeGreaterThan(
      system.clock.now().getTime(),
    );
    await system.complete(first!);
    const runs = await system.nextMinute(deploymentId, 3);
    expect(outcomesOf(runs)).toEqual(['succeeded', 'cancelled disabled', 'running']);
    expect(runs[2]!.scheduledFor!.getTime() - runs[1]!.scheduledFor!.getTime()).toBeGreaterThan(600_000);
  });

  it('deleting removes the schedule and its runs; sessions stay', async () => {
    const { deploymentId, deployment } = await system.create();
    const [run] = await system.nextMinute(deploymentId, 1);
    const stale = { ...referenceTo(deployment), ifRevisions: { revisions: [9] } };
    await expect(system.edge.deleteDeployment(stale, asOwner)).rejects.toMatchObject({
      code: 'VERSION_CONFLICT',
    });
    await system.edge.deleteDeployment(referenceTo(deployment), asOwner);
    for (const table of ['deployments', 'schedules', 'runs', 'prompts'])
      expect(await system.sql(`select from ${table}`)).toEqual([]);
    expect(system.scheduled.sessions.has(run!.sessionId)).toBe(true);
  });

  it('ListDeployments returns webhooks and schedules, and searches the name', async () => {
    const { deploymentId } = await system.create();
    const webhook = { ...scheduleRequest(), type: 'webhook', name: '', schedule: undefined };
    const { deployment } = await system.edge.createDeployment(webhook, asOwner);
    const list = async (filter: object) => {
      const request = { page: { limit: 10, cursor: '' }, agentId: '', q: '', type: '', status: '' };
      const { deployments } = await system.edge.listDeployments({ ...request, ...filter }, asOwner);
      return deployments.map((one) => one.deploymentId);
    };
    expect(await list({})).toEqual([deployment!.deploymentId, deploymentId]);
    expect(await list({ type: 'schedule' })).toEqual([deploymentId]);
    expect(await list({ q: 'MORNING' })).toEqual([deploymentId]);
  });

  it('ListUpcoming and PreviewSchedule return the next times, with and without jitter', async () => {
    const { deploymentId, agentId, deployment } = await system.create({ jitterSeconds: 20 });
    const from = deployment.scheduleStatus!.nextAt;
    const { times } = await system.edge.listUpcoming({ agentId, deploymentId, count: 3, from }, asOwner);
    expect(times).toHaveLength(3);
    expect(times[0]).toMatchObject({ scheduledFor: from, utcOffset: '+00:00', note: '' });
    for (const { scheduledFor, dueAt } of times)
      expect(dueAt!.getTime() - scheduledFor!.getTime()).toBeLessThan(20_000);
    const preview = { timing: EVERY_MINUTE.timing, jitterSeconds: 0, count: 3, from };
    const previewed = await system.edge.previewSchedule(preview, asOwner);
    expect(previewed.times.map(({ scheduledFor }) => scheduledFor)).toEqual(
      times.map(({ scheduledFor }) => scheduledFor),
    );
    const invalid = system.edge.previewSchedule({ ...preview, timing: undefined }, asOwner);
    await expect(invalid).rejects.toMatchObject({ code: 'INVALID_SCHEDULE' });
    const many = system.edge.listUpcoming({ agentId, deploymentId, count: 101, from }, asOwner);
    await expect(many).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });
});
