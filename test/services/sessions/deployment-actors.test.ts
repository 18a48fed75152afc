import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { countOn } from '../../support/sql.ts';
import { trackSessions } from './created-sessions.ts';
import {
  actorOf,
  drainSignals,
  newRunId,
  runRequest,
  SCHEDULE,
  sendForRun,
  suffixOf,
} from './deployment-runs.ts';
import {
  AGENT,
  COMPLETED,
  claimTurn,
  claimTurns,
  content,
  journalOf,
  OWNER,
  openReplica,
  openSystem,
  STRANGER,
  sendText,
  typesOf,
} from './system.ts';
import { createReporter } from './turn-events.ts';

const caller = OWNER;
const DAY_MS = 24 * 3_600_000;

describe.each(TRANSPORTS)('deployments as actors over %s', (transport) => {
  const clock = createFakeClock();
  let system: Awaited<ReturnType<typeof openSystem>>;
  beforeAll(async () => {
    system = await openSystem(transport, { clock });
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const { begin, track } = trackSessions(() => system);
  const turnsOf = async (sessionId: string) => {
    const page = { limit: 50, cursor: '' };
    return (await system.edge.listTurns({ sessionId, page, unfinished: false }, { caller })).turns;
  };
  const sessionOf = async (sessionId: string) =>
    (await system.edge.getSession({ sessionId }, { caller })).session;
  const startRun = async (runId = newRunId()) => {
    const created = await system.deployments.createSession(runRequest(runId));
    return { ...created, sessionId: track(created.sessionId), runId };
  };

  describe('CreateSession with an actor', () => {
    it('names the session and its first turn after the run', async () => {
      const { sessionId, turnId, runId } = await startRun();
      expect([suffixOf(sessionId), suffixOf(turnId)]).toEqual([suffixOf(runId), suffixOf(runId)]);
      expect(await sessionOf(sessionId)).toMatchObject({
        ...{ deploymentId: SCHEDULE, invocationId: '', agentId: AGENT, agentVersion: 3 },
        ...{ createdBy: OWNER.userId, status: 'pending', queuedTurns: 1 },
      });
      const [created, message] = (await journalOf(system, sessionId)).map(({ json }) => JSON.parse(json));
      expect(created).toMatchObject({
        actor: { type: 'schedule', id: SCHEDULE },
        data: { source: 'schedule', deployment_id: SCHEDULE },
      });
      expect(created.data).not.toHaveProperty('invocation_id');
      expect(message).toMatchObject({
        ...{ type: 'user.message', turn_id: turnId, actor: { type: 'schedule', id: SCHEDULE } },
        data: { content: [{ type: 'text', text: 'Report.' }] },
      });
    });

    it('creates one session for a run that is repeated in parallel and by another process', async () => {
      const runId = newRunId();
      await using replica = await openReplica(transport, system.context);
      const answers = await Promise.all(
        [system, replica, system, replica].map(({ deployments }) =>
          deployments.createSession(runRequest(runId)),
        ),
      );
      expect(new Set(answers.map(({ sessionId }) => sessionId)).size).toBe(1);
      expect(new Set(answers.map(({ turnId }) => turnId)).size).toBe(1);
      const sessionId = track(answers[0]?.sessionId ?? '');
      clock.advance(2 * DAY_MS);
      expect(await system.deployments.createSession(runRequest(runId))).toEqual(answers[0]);
      expect(await turnsOf(sessionId)).toHaveLength(1);
      const ofSession = (await drainSignals(system)).filter((signal) => signal.sessionId === sessionId);
      expect(ofSession).toHaveLength(1);
    });

    it('keeps the session out of the log of invocations, and in the list of sessions of the deployment', async () => {
      const { sessionId } = await startRun();
      const request = { deploymentId: SCHEDULE, beforeInvocationId: '', limit: 10 };
      expect((await system.deployments.listDeploymentSessions(request)).sessions).toEqual([]);
      const list = { agentId: '', deploymentId: SCHEDULE, states: [], status: '', q: '' };
      const page = { limit: 50, cursor: '' };
      const { sessions } = await system.edge.listSessions({ ...list, page }, { caller });
      expect(sessions.map((session) => session.sessionId)).toContain(sessionId);
    });

    it.each([
      ['an unknown type', { type: 'webhook' }, '/actor/type must be schedule or channel'],
      ['a malformed deployment', { deploymentId: 'dep_1' }, '/actor/deployment_id must be a dep_… id'],
      ['a malformed run', { runId: 'inv_01M7XYC91CC5TE06JQWDWRTJVR' }, '/actor/run_id must be a run_… id'],
    ])('refuses %s', async (_, fault, message) => {
      const request = { ...runRequest(newRunId()), deploymentId: '' };
      const actor = { ...request.actor, ...fault };
      await expect(system.deployments.createSession({ ...request, actor })).rejects.toMatchObject({
        ...{ code: 'INVALID_REQUEST', message },
      });
    });

    it('refuses an invocation, and another deployment than the one that acts', async () => {
      const request = runRequest(newRunId());
      const invocationId = 'inv_01M7XYC91CC5TE06JQWDWRTJVR';
      const deploymentId = 'dep_01M7XYC91CC5TE06JQWDWRTJVX';
      for (const fault of [{ invocationId }, { deploymentId }])
        await expect(system.deployments.createSession({ ...request, ...fault })).rejects.toMatchObject({
          code: 'INVALID_REQUEST',
        });
    });
  });

  describe('SendMessage with an actor', () => {
    it('queues one turn per run, with the priority of triggers, in the name of the schedule', async () => {
      const sessionId = await begin();
      const runId = newRunId();
      const sent = await sendForRun(system, sessionId, runId);
      expect(sent).toEqual({ turnId: `trn_${suffixOf(runId)}`, seq: expect.any(Number), replayed: false });
      expect(await sendForRun(system, sessionId, runId)).toEqual({ ...sent, replayed: true });
      clock.advance(2 * DAY_MS);
      expect(await sendForRun(system, sessionId, runId, { busyPolicy: 'reject' })).toEqual({
        ...{ ...sent, replayed: true },
      });
      expect(await turnsOf(sessionId)).toMatchObject([{ turnId: sent.turnId, status: 'queued' }]);
      const message = (await journalOf(system, sessionId)).find(({ type }) => type === 'user.message');
      expect(JSON.parse(message?.json ?? '{}').actor).toEqual({ type: 'schedule', id: SCHEDULE });
      const priority = `select priority as count from sessions.turns where turn_id = '${sent.turnId}'`;
      expect(await countOn(system.database.url, priority)).toBe(1);
    });

    it('queues one turn when a run is repeated in parallel by two processes, also after the turn has ended', async () => {
      const sessionId = await begin();
      const runId = newRunId();
      await using replica = await openReplica(transport, system.context);
      const answers = await Promise.all(
        [system, replica, system, replica, system].map((one) => sendForRun(one, sessionId, runId)),
      );
      expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
      await createReporter(system, await claimTurn(system))({ outcome: COMPLETED });
      expect(await sendForRun(replica, sessionId, runId)).toMatchObject({ replayed: true });
      expect(await claimTurns(system)).toEqual([]);
      expect(await turnsOf(sessionId)).toMatchObject([{ status: 'completed' }]);
    });

    it('queues one turn when the message of a run is sent to several sessions at once', async () => {
      const sessions = await Promise.all([begin(), begin(), begin()]);
      const runId = newRunId();
      const answers = await Promise.all(sessions.map((sessionId) => sendForRun(system, sessionId, runId)));
      expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
      expect((await Promise.all(sessions.map(turnsOf))).flat()).toHaveLength(1);
    });

    it('answers the run that has created a session without a second turn', async () => {
      const { sessionId, turnId, runId } = await startRun();
      expect(await sendForRun(system, sessionId, runId)).toMatchObject({ turnId, replayed: true });
    });

    it('waits behind a running turn, or is refused with the policy reject', async () => {
      const sessionId = await begin('one');
      const first = await claimTurn(system);
      const refused = sendForRun(system, sessionId, newRunId(), { busyPolicy: 'reject' });
      await expect(refused).rejects.toMatchObject({ code: 'SESSION_BUSY' });
      const { turnId } = await sendForRun(system, sessionId, newRunId());
      await createReporter(system, first)({ outcome: COMPLETED });
      expect(await claimTurn(system)).toMatchObject({ turnId });
    });

    it('is refused while the queue is held, and queues no turn', async () => {
      const sessionId = await begin('one');
      await sendText(system, sessionId, 'two');
      await system.edge.interruptSession({ sessionId, holdQueue: true }, { caller });
      const runId = newRunId();
      for (const busyPolicy of ['enqueue', 'interrupt', 'reject'])
        await expect(sendForRun(system, sessionId, runId, { busyPolicy })).rejects.toMatchObject({
          ...{ code: 'SESSION_BUSY', message: expect.stringContaining('queue of the session is held') },
        });
      expect(await sessionOf(sessionId)).toMatchObject({ queueHeld: true, queuedTurns: 1 });
      await system.edge.releaseQueue({ sessionId }, { caller });
      expect(await sendForRun(system, sessionId, runId)).toMatchObject({ replayed: false });
    });

    it('is refused for an archived, a deleted and a foreign session', async () => {
      const archived = await begin();
      await system.edge.archiveSession({ sessionId: archived }, { caller });
      await expect(sendForRun(system, archived, newRunId())).rejects.toMatchObject({
        code: 'SESSION_ARCHIVED',
      });
      const deleted = await begin();
      await system.edge.deleteSession({ sessionId: deleted }, { caller });
      const unknown = { code: 'SESSION_NOT_FOUND' };
      await expect(sendForRun(system, deleted, newRunId())).rejects.toMatchObject(unknown);
      const stranger = { caller: STRANGER };
      await expect(sendForRun(system, await begin(), newRunId(), stranger)).rejects.toMatchObject(unknown);
    });

    it('queues the turn in a new session when the session that had it was deleted', async () => {
      const sessionId = await begin();
      const runId = newRunId();
      await sendForRun(system, sessionId, runId);
      await system.edge.deleteSession({ sessionId }, { caller });
      await expect(sendForRun(system, sessionId, runId)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
      const created = await startRun(runId);
      expect(await turnsOf(created.sessionId)).toMatchObject([{ turnId: created.turnId, status: 'queued' }]);
      const { turns } = await system.deployments.lookUpTurns({ turnIds: [created.turnId] });
      expect(turns).toMatchObject([{ sessionId: created.sessionId, status: 'queued' }]);
    });
  });

  it('have one effect per run when answers are lost and another process repeats the calls', async () => {
    const runId = newRunId();
    const messageRunId = newRunId();
    const stopping = await openReplica(transport, system.context);
    const lost = new AbortController();
    const { signal } = lost;
    const creating = Promise.allSettled(
      [1, 2, 3].map(() => stopping.deployments.createSession(runRequest(runId), { signal })),
    );
    lost.abort();
    await creating;
    const sessionId = track((await system.deployments.createSession(runRequest(runId))).sessionId);
    const sending = Promise.allSettled([1, 2, 3].map(() => sendForRun(stopping, sessionId, messageRunId)));
    await stopping[Symbol.asyncDispose]();
    await sending;
    await sendForRun(system, sessionId, messageRunId);
    const turnIds = (await turnsOf(sessionId)).map(({ turnId }) => suffixOf(turnId));
    expect(turnIds).toEqual([suffixOf(runId), suffixOf(messageRunId)]);
    const ofSession = (await drainSignals(system)).filter((one) => one.sessionId === sessionId);
    expect(ofSession.map(({ kind }) => kind)).toEqual(['turn_queued', 'turn_queued']);
  });

  describe('InterruptSession with an actor', () => {
    it('interrupts only the turn of the run, in the name of the schedule', async () => {
      const { sessionId, turnId } = await startRun();
      await claimTurn(system);
      const interrupt = (only: string) =>
        system.deployments.interruptSession({ sessionId, turnId: only, actor: actorOf('') }, { caller });
      await interrupt('trn_01M7XYC91CC5TE06JQWDWRTJVR');
      expect(await sessionOf(sessionId)).toMatchObject({ status: 'running' });
      expect((await interrupt(turnId)).session).toMatchObject({ status: 'idle', state: 'stopped' });
      const interrupted = (await journalOf(system, sessionId)).find(({ type }) => type === 'user.interrupt');
      expect(JSON.parse(interrupted?.json ?? '{}').actor).toEqual({ type: 'schedule', id: SCHEDULE });
    });

    it.each([false, true])(
      'removes the turn of a run behind another turn, with a held queue: %s',
      async (isHeld) => {
        const sessionId = await begin('one');
        const { turnId: first } = await claimTurn(system);
        if (isHeld) await sendText(system, sessionId, 'two');
        const { turnId } = await sendForRun(system, sessionId, newRunId());
        const { turnId: last } = await sendText(system, sessionId, 'three');
        if (isHeld) await system.edge.interruptSession({ sessionId, holdQueue: true }, { caller });
        const before = (await journalOf(system, sessionId)).length;
        const request = { sessionId, turnId, actor: actorOf('') };
        for (let time = 0; time < 2; time++) await system.deployments.interruptSession(request, { caller });
        const added = (await journalOf(system, sessionId)).slice(before);
        expect(added.map(({ json }) => JSON.parse(json))).toMatchObject([
          {
            ...{ type: 'turn.cancelled', actor: { type: 'schedule', id: SCHEDULE } },
            data: { turn_id: turnId, reason: 'removed' },
          },
        ]);
        const { turns } = await system.deployments.lookUpTurns({ turnIds: [turnId] });
        expect(turns).toMatchObject([{ turnId, status: 'cancelled' }]);
        expect(await sessionOf(sessionId)).toMatchObject({
          ...{ status: isHeld ? 'idle' : 'running', queueHeld: isHeld, queuedTurns: isHeld ? 2 : 1 },
        });
        const left = (await turnsOf(sessionId)).filter(({ status }) => status === 'queued');
        expect(left.at(-1)?.turnId).toBe(last);
        expect((await turnsOf(sessionId))[0]?.turnId).toBe(first);
      },
    );
  });

  describe('the peer of a call', () => {
    const message = (sessionId: string) => ({
      ...{ sessionId, contentJson: content('hello'), busyPolicy: 'enqueue', idempotencyKey: '' },
    });

    it('may not act for a deployment unless it is the deployments service', async () => {
      const sessionId = await begin();
      const actor = actorOf(newRunId());
      const forbidden = { code: 'FORBIDDEN' };
      await expect(
        system.edge.sendMessage({ ...message(sessionId), actor }, { caller }),
      ).rejects.toMatchObject(forbidden);
      await expect(system.edge.interruptSession({ sessionId, actor }, { caller })).rejects.toMatchObject(
        forbidden,
      );
      expect(typesOf(await journalOf(system, sessionId))).toEqual(['session.created']);
    });

    it('must name a deployment of a known type when it is the deployments service', async () => {
      const sessionId = await begin();
      const invalid = { code: 'INVALID_REQUEST' };
      const { deployments } = system;
      const unknown = { ...actorOf(newRunId()), type: 'webhook' };
      await expect(deployments.sendMessage(message(sessionId), { caller })).rejects.toMatchObject(invalid);
      await expect(deployments.interruptSession({ sessionId }, { caller })).rejects.toMatchObject(invalid);
      await expect(
        deployments.sendMessage({ ...message(sessionId), actor: unknown }, { caller }),
      ).rejects.toMatchObject(invalid);
      await expect(
        deployments.interruptSession({ sessionId, actor: unknown }, { caller }),
      ).rejects.toMatchObject(invalid);
    });
  });
});
