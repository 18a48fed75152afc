import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AGENT, OTHER_AGENT, OWNER, STRANGER } from '../system.ts';
import { asOwner, openScheduleSystem, outcomesOf, type ScheduleSystem, scheduleRequest } from './fixtures.ts';

const OWN = 'ses_00000000000000000000000001';

describe('a schedule that continues a session', () => {
  let system: ScheduleSystem;
  beforeAll(async () => {
    system = await openScheduleSystem();
  });
  afterAll(() => system?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    system.reset();
    system.scheduled.clear();
    await system.sql('delete from deployments');
    const session = { sessionId: OWN, createdBy: OWNER.userId, agentId: AGENT, agentVersion: 1, traceId: '' };
    system.scheduled.sessions.set(OWN, session);
  });

  const continued = { sessionMode: 'continue', overlap: 'allow' } as const;
  const sessionIdOf = async (deploymentId: string) =>
    (await system.edge.getDeployment({ agentId: AGENT, deploymentId }, asOwner)).deployment?.schedule
      ?.sessionId;

  it('creates the session with the first run, stores it, and sends messages to it', async () => {
    const { deploymentId } = await system.create(continued);
    expect(await sessionIdOf(deploymentId)).toBe('');
    const [first] = await system.nextMinute(deploymentId, 1);
    expect(await sessionIdOf(deploymentId)).toBe(first?.sessionId);
    const [, second] = await system.nextMinute(deploymentId, 2);
    expect(second).toMatchObject({ status: 'running', sessionId: first?.sessionId });
    expect(system.scheduled.turnOf(second!.runId).sessionId).toBe(first?.sessionId);
  });

  it('creates one session when two runs start at the same time', async () => {
    const { agentId, deploymentId } = await system.create(continued);
    const request = { agentId, deploymentId, idempotencyKey: '' };
    await Promise.all([system.edge.runNow(request, asOwner), system.edge.runNow(request, asOwner)]);
    const runs = await system.settled(deploymentId, 2);
    expect(new Set(runs.map(({ sessionId }) => sessionId)).size).toBe(1);
    expect(system.scheduled.sessions.size).toBe(2);
  });

  it('creates one session when the first run starts while the second one finds no session', async () => {
    const { agentId, deploymentId } = await system.create(continued);
    const request = { agentId, deploymentId, idempotencyKey: '' };
    const [missing, created] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    // The first run creates its session only after the second one has looked for it, and is stored before that answer.
    system.scheduled.onCreating = () => missing.promise;
    system.scheduled.onMissing = async () => {
      system.scheduled.onMissing = undefined;
      missing.resolve();
      await created.promise;
    };
    const first = await system.edge.runNow(request, asOwner);
    await system.pass('the session is reserved', () => sessionIdOf(deploymentId));
    await system.edge.runNow(request, asOwner);
    await system.pass('the first run has started', async () => {
      const { run } = await system.edge.getRun({ agentId, deploymentId, runId: first.run!.runId }, asOwner);
      return run?.status === 'running';
    });
    created.resolve();
    const runs = await system.settled(deploymentId, 2);
    expect(new Set(runs.map(({ sessionId }) => sessionId)).size).toBe(1);
    expect(system.scheduled.sessions.size).toBe(2);
  });

  it('creates another session when its own one was deleted', async () => {
    const { deploymentId } = await system.create(continued);
    const [first] = await system.nextMinute(deploymentId, 1);
    system.scheduled.deleteSession(first!.sessionId);
    await system.finished(first!);
    const [, second] = await system.nextMinute(deploymentId, 2);
    expect(second?.sessionId).not.toBe(first?.sessionId);
    expect(await sessionIdOf(deploymentId)).toBe(second?.sessionId);
  });

  it('sends to the session that the client has named', async () => {
    const { deploymentId } = await system.create({ ...continued, sessionId: OWN });
    const [run] = await system.nextMinute(deploymentId, 1);
    expect(run).toMatchObject({ status: 'running', sessionId: OWN });
  });

  it.each([
    ['session_deleted', () => system.scheduled.deleteSession(OWN)],
    ['session_archived', () => changeSession({ isArchived: true })],
    ['session_terminated', () => changeSession({ isTerminated: true })],
  ])('fails with the reason %s', async (reason, change) => {
    const { deploymentId } = await system.create({ ...continued, sessionId: OWN });
    change();
    const [run] = await system.nextMinute(deploymentId, 1);
    expect(run).toMatchObject({ status: 'failed', reason });
    expect(JSON.parse(run!.errorJson).code).toBe('DEPLOYMENT_CANNOT_START');
  });

  function changeSession(change: object): void {
    Object.assign(system.scheduled.sessions.get(OWN)!, change);
  }

  it('stays queued while the queue of its session is held', async () => {
    const { deploymentId } = await system.create({ ...continued, sessionId: OWN });
    changeSession({ isHeld: true });
    await system.pass('a run waits', async () => (await system.runsOf(deploymentId)).length === 2);
    expect(outcomesOf(await system.runsOf(deploymentId))).toEqual(['queued', 'queued']);
    changeSession({ isHeld: false });
    expect((await system.settled(deploymentId, 2))[0]).toMatchObject({ status: 'running', sessionId: OWN });
  });

  it.each([
    ['an unknown session', 'ses_00000000000000000000000009', {}],
    ['a malformed id', 'nonsense', {}],
    ['the session of another user', OWN, { createdBy: STRANGER.userId }],
    ['the session of another agent', OWN, { agentId: OTHER_AGENT }],
  ])('is refused with SESSION_NOT_FOUND for %s', async (_, sessionId, change) => {
    changeSession(change);
    const refused = expect.objectContaining({
      code: 'SESSION_NOT_FOUND',
      details: [expect.objectContaining({ pointer: '/session_id' })],
    });
    await expect(system.create({ ...continued, sessionId })).rejects.toEqual(refused);
    const { deployment } = await system.edge.createDeployment(scheduleRequest(continued), asOwner);
    const { deploymentId } = deployment!;
    const members = {
      schedule: { sessionId, timing: undefined },
      metadata: undefined,
      ifRevisions: undefined,
    };
    const update = system.edge.updateDeployment({ agentId: AGENT, deploymentId, ...members }, asOwner);
    await expect(update).rejects.toEqual(refused);
  });
});
