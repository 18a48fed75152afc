import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CreateBackfillRequest } from '../../../../proto/gen/ahs/deployments/v1/schedules.ts';
import { AGENT, OWNER, STRANGER } from '../system.ts';
import {
  asOwner,
  openScheduleSystem,
  outcomesOf,
  type ScheduleSystem,
  scheduleRequest,
  timesOf,
} from './fixtures.ts';

type Reference = { agentId: string; deploymentId: string };
const UNKNOWN_RUN = 'run_00000000000000000000000001';

describe('actions on schedules', () => {
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

  /** A schedule whose own times do not interfere. */
  async function disabled() {
    const created = await system.create({ prompt: 'Run {{run_number}} of {{name}}.' });
    const { agentId, deploymentId } = created;
    await system.edge.disableDeployment({ agentId, deploymentId }, asOwner);
    return { agentId, deploymentId };
  }

  it('RunNow starts a run while the schedule is disabled, with its own prompt', async () => {
    const reference = await disabled();
    const { run } = await system.edge.runNow({ ...reference, idempotencyKey: '' }, asOwner);
    expect(run).toMatchObject({
      trigger: 'manual',
      status: 'queued',
      scheduledFor: undefined,
      createdBy: OWNER.userId,
    });
    await system.settled(reference.deploymentId, 1);
    const own = await system.edge.runNow(
      { ...reference, prompt: 'Now {{run_number}}', idempotencyKey: '' },
      asOwner,
    );
    const runs = await system.settled(reference.deploymentId, 2);
    expect(outcomesOf(runs)).toEqual(['running', 'running']);
    expect(runs.map(({ latenessMs }) => latenessMs)).toEqual([undefined, undefined]);
    expect(system.scheduled.turnOf(run!.runId).text).toBe('Run 1 of Morning report.');
    expect(system.scheduled.turnOf(own.run!.runId).text).toBe('Now 2');
  });

  it('RunNow refuses an unknown placeholder', async () => {
    const request = { ...(await disabled()), prompt: '{{nonsense}}', idempotencyKey: '' };
    await expect(system.edge.runNow(request, asOwner)).rejects.toMatchObject({ code: 'INVALID_SCHEDULE' });
  });

  it('RunNow queues one run for requests with the same Idempotency-Key', async () => {
    const request = { ...(await disabled()), idempotencyKey: 'now' };
    const first = await system.edge.runNow(request, asOwner);
    const second = await system.edge.runNow(request, asOwner);
    expect(second).toEqual({ run: first.run, replayed: true });
    const other = system.edge.runNow({ ...request, prompt: 'Other' }, asOwner);
    await expect(other).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_CONFLICT' });
    expect(await system.runsOf(request.deploymentId)).toHaveLength(1);
  });

  it('ReplayRun queues a run with the prompt and the scheduled time of the earlier one', async () => {
    const { agentId, deploymentId } = await system.create({ prompt: 'At {{scheduled_for}}' });
    const [run] = await system.nextMinute(deploymentId, 1);
    const request = { agentId, deploymentId, runId: run!.runId, idempotencyKey: '' };
    const { run: replay } = await system.edge.replayRun(request, asOwner);
    expect(replay).toMatchObject({
      trigger: 'replay',
      replayedFromRunId: run?.runId,
      scheduledFor: run?.scheduledFor,
    });
    await system.settled(deploymentId, 2);
    expect(system.scheduled.turnOf(replay!.runId).text).toBe(system.scheduled.turnOf(run!.runId).text);
    const unknown = system.edge.replayRun({ ...request, runId: UNKNOWN_RUN }, asOwner);
    await expect(unknown).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
  });

  it.each([
    [
      'CancelRun',
      (reference: Reference, runId: string) => system.edge.cancelRun({ ...reference, runId }, asOwner),
    ],
    ['DisableDeployment', (reference: Reference) => system.edge.disableDeployment(reference, asOwner)],
  ])('interrupts the turn of a run that %s cancelled before its start was stored', async (_, cancel) => {
    const { agentId, deploymentId } = await system.create();
    const reference = { agentId, deploymentId };
    // The process that starts the run learns neither of its turn nor of the cancellation.
    system.scheduled.losesAnswers = true;
    system.scheduled.onCreated = async (runId) => {
      system.scheduled.onCreated = undefined;
      await cancel(reference, runId);
    };
    const { run } = await system.edge.runNow({ ...reference, idempotencyKey: '' }, asOwner);
    await system.pass('the turn is interrupted', () => system.scheduled.interrupts.length > 0, 1_000);
    const turnId = run!.runId.replace('run', 'trn');
    const actor = { type: 'schedule', deploymentId, runId: '' };
    expect(system.scheduled.interrupts).toEqual([{ turnId, userId: OWNER.userId, actor }]);
    const [cancelled] = await system.runsOf(deploymentId);
    expect(cancelled).toMatchObject({
      status: 'cancelled',
      turnId,
      sessionId: run!.runId.replace('run', 'ses'),
    });
    await system.pass('the check is over', async () => {
      return (await system.sql('select from runs where check_at is not null')).length === 0;
    });
    expect(system.scheduled.interrupts).toHaveLength(1);
  });

  it('CancelRun cancels a queued run, interrupts a running one, and leaves one that has ended', async () => {
    const { agentId, deploymentId } = await system.create({ overlap: 'buffer_one' });
    const [running] = await system.nextMinute(deploymentId, 1);
    system.clock.advance(60_000);
    const [, queued] = await system.pass('a run waits', async () => {
      const runs = await system.runsOf(deploymentId);
      return runs.length === 2 ? runs : undefined;
    });
    await system.edge.disableDeployment({ agentId, deploymentId }, asOwner).catch(() => {});
    const cancel = async (runId: string) =>
      (await system.edge.cancelRun({ agentId, deploymentId, runId }, asOwner)).run;
    expect(await cancel(queued!.runId)).toMatchObject({ status: 'cancelled' });
    const interrupted = await cancel(running!.runId);
    expect(interrupted).toMatchObject({ status: 'interrupted', sessionId: running?.sessionId });
    expect(system.scheduled.interrupts).toHaveLength(1);
    expect(await cancel(running!.runId)).toEqual(interrupted);
    expect(system.scheduled.interrupts).toHaveLength(1);
    await expect(cancel(UNKNOWN_RUN)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
    await expect(cancel('nonsense')).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
  });

  function backfillOf(reference: { agentId: string; deploymentId: string }, minutes: number) {
    const until = new Date(Math.floor(system.clock.now().getTime() / 60_000) * 60_000);
    const request: CreateBackfillRequest = {
      ...reference,
      from: new Date(until.getTime() - minutes * 60_000),
      until,
      overlap: 'allow',
      skipExisting: true,
      dryRun: false,
      idempotencyKey: '',
    };
    return request;
  }

  it('CreateBackfill queues a run for each time of the range, and counts them', async () => {
    const reference = await disabled();
    const request = backfillOf(reference, 3);
    const dry = await system.edge.createBackfill({ ...request, dryRun: true }, asOwner);
    expect(dry).toMatchObject({ backfillId: '', count: 3, first: request.from });
    expect(await system.runsOf(reference.deploymentId)).toEqual([]);
    const { backfillId, count } = await system.edge.createBackfill(request, asOwner);
    expect(count).toBe(3);
    const runs = await system.settled(reference.deploymentId, 3);
    expect(runs.map(({ trigger, backfillId: id }) => [trigger, id])).toEqual(
      Array(3).fill(['backfill', backfillId]),
    );
    expect(new Set(timesOf(runs)).size).toBe(3);
    await system.complete(runs[0]!);
    const { backfill } = await system.edge.getBackfill({ ...reference, backfillId }, asOwner);
    expect(backfill).toMatchObject({
      count: 3,
      started: 3,
      finished: 1,
      cancelled: 0,
      createdBy: OWNER.userId,
    });
    const page = { limit: 10, cursor: '' };
    expect((await system.edge.listBackfills({ ...reference, page }, asOwner)).backfills).toEqual([backfill]);
  });

  it('CreateBackfill leaves out the times that have a run', async () => {
    const reference = await disabled();
    await system.edge.createBackfill(backfillOf(reference, 2), asOwner);
    await system.settled(reference.deploymentId, 2);
    const wider = { ...backfillOf(reference, 4), dryRun: true };
    expect((await system.edge.createBackfill(wider, asOwner)).count).toBe(2);
    expect((await system.edge.createBackfill({ ...wider, skipExisting: false }, asOwner)).count).toBe(4);
  });

  it('buffer_all runs one time after the other, and DeleteBackfill cancels those that have not started', async () => {
    const reference = await disabled();
    const request = { ...backfillOf(reference, 3), overlap: 'buffer_all' };
    const { backfillId } = await system.edge.createBackfill(request, asOwner);
    const started = async (count: number) =>
      system.pass(`${count} runs have started`, async () => {
        const runs = await system.runsOf(reference.deploymentId);
        return runs.filter(({ sessionId }) => sessionId).length === count ? runs : undefined;
      });
    const [first] = await started(1);
    expect(outcomesOf(await system.runsOf(reference.deploymentId))).toEqual(['running', 'queued', 'queued']);
    await system.complete(first!);
    await started(2);
    const { backfill } = await system.edge.deleteBackfill({ ...reference, backfillId }, asOwner);
    expect(backfill).toMatchObject({ count: 3, started: 2, finished: 1, cancelled: 1 });
    const unknown = { ...reference, backfillId: 'bkf_00000000000000000000000001' };
    await expect(system.edge.getBackfill(unknown, asOwner)).rejects.toMatchObject({
      code: 'BACKFILL_NOT_FOUND',
    });
  });

  it('CreateBackfill refuses more than 1,000 times and an empty range', async () => {
    const reference = await disabled();
    const large = system.edge.createBackfill(backfillOf(reference, 1_001), asOwner);
    await expect(large).rejects.toMatchObject({ code: 'BACKFILL_TOO_LARGE' });
    const empty = system.edge.createBackfill(backfillOf(reference, 0), asOwner);
    await expect(empty).rejects.toMatchObject({ code: 'INVALID_SCHEDULE', details: [{ pointer: '/until' }] });
  });

  it('CreateBackfill queues its runs once for the same Idempotency-Key', async () => {
    const request = { ...backfillOf(await disabled(), 2), idempotencyKey: 'backfill' };
    const first = await system.edge.createBackfill(request, asOwner);
    expect(await system.edge.createBackfill(request, asOwner)).toEqual({ ...first, replayed: true });
    expect(await system.sql('select from runs')).toHaveLength(2);
  });

  const page = { limit: 10, cursor: '' };
  const range = { from: undefined, until: undefined };
  type Reference = { agentId: string; deploymentId: string };
  type Caller = typeof asOwner;
  const actions: [string, (reference: Reference, who: Caller) => Promise<unknown>][] = [
    ['RunNow', (reference, who) => system.edge.runNow({ ...reference, idempotencyKey: '' }, who)],
    [
      'ListRuns',
      (reference, who) =>
        system.edge.listRuns({ ...reference, ...range, page, status: '', trigger: '' }, who),
    ],
    ['GetRun', (reference, who) => system.edge.getRun({ ...reference, runId: UNKNOWN_RUN }, who)],
    [
      'ReplayRun',
      (reference, who) =>
        system.edge.replayRun({ ...reference, runId: UNKNOWN_RUN, idempotencyKey: '' }, who),
    ],
    ['CancelRun', (reference, who) => system.edge.cancelRun({ ...reference, runId: UNKNOWN_RUN }, who)],
    [
      'ListUpcoming',
      (reference, who) => system.edge.listUpcoming({ ...reference, count: 1, from: undefined }, who),
    ],
    ['CreateBackfill', (reference, who) => system.edge.createBackfill(backfillOf(reference, 1), who)],
    ['ListBackfills', (reference, who) => system.edge.listBackfills({ ...reference, page }, who)],
    [
      'GetBackfill',
      (reference, who) => system.edge.getBackfill({ ...reference, backfillId: UNKNOWN_RUN }, who),
    ],
    [
      'DeleteBackfill',
      (reference, who) => system.edge.deleteBackfill({ ...reference, backfillId: UNKNOWN_RUN }, who),
    ],
  ];

  it.each(actions)('%s returns NOT_A_SCHEDULE for a webhook', async (_, act) => {
    const request = { ...scheduleRequest(), type: 'webhook', name: '', schedule: undefined };
    const { deployment } = await system.edge.createDeployment(request, asOwner);
    const { agentId, deploymentId } = deployment!;
    await expect(act({ agentId, deploymentId }, asOwner)).rejects.toMatchObject({ code: 'NOT_A_SCHEDULE' });
  });

  it.each(actions)('%s is open to managers of the agent and closed to other users', async (_, act) => {
    const reference = await disabled();
    await expect(act(reference, { caller: STRANGER })).rejects.toMatchObject({
      code: 'DEPLOYMENT_NOT_FOUND',
    });
    const agent = system.fakes.agents.get(AGENT)!;
    system.fakes.agents.set(AGENT, { ...agent, managers: [STRANGER.userId] });
    const outcome = await act(reference, { caller: STRANGER }).catch((error: unknown) => error);
    const codes = [undefined, 'RUN_NOT_FOUND', 'BACKFILL_NOT_FOUND'];
    expect(codes).toContain((outcome as { code?: string }).code);
  });

  it('write audit entries', async () => {
    const { auditLog } = system.fakes;
    const reference = await disabled();
    auditLog.takeActs();
    const { run } = await system.edge.runNow({ ...reference, idempotencyKey: '' }, asOwner);
    const { runId } = run!;
    await system.edge.replayRun({ ...reference, runId, idempotencyKey: '' }, asOwner);
    const { backfillId } = await system.edge.createBackfill(backfillOf(reference, 1), asOwner);
    await system.edge.deleteBackfill({ ...reference, backfillId }, asOwner);
    await system.edge.updateDeployment(
      { ...reference, name: 'B', metadata: undefined, schedule: undefined, ifRevisions: undefined },
      asOwner,
    );
    const acts = [
      'schedule.run',
      'schedule.run',
      'schedule.backfill',
      'schedule.backfill',
      'deployment.update',
    ];
    expect(auditLog.takeActs()).toEqual(
      acts.map((act) => `${OWNER.userId} ${act} ${reference.deploymentId}`),
    );
  });
});
