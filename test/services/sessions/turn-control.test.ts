import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { advanceUntil } from '../../support/wait.ts';
import { trackSessions } from './created-sessions.ts';
import {
  AGENT,
  COMPLETED,
  claimTurn,
  claimTurns,
  content,
  journalOf,
  OWNER,
  openSystem,
  STRANGER,
  sendText,
  typesOf,
} from './system.ts';
import {
  agentMessage,
  blockedOn,
  createReporter,
  toolCallStep,
  toolDispatched,
  toolResult,
} from './turn-events.ts';

const caller = OWNER;

describe.each(TRANSPORTS)('sessions over %s', (transport) => {
  const clock = createFakeClock();
  let system: Awaited<ReturnType<typeof openSystem>>;
  beforeAll(async () => {
    system = await openSystem(transport, { clock }, { maxFailures: 2 });
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const { begin, track } = trackSessions(() => system);
  const sessionOf = async (sessionId: string) =>
    (await system.edge.getSession({ sessionId }, { caller })).session;
  const finish = async () =>
    createReporter(
      system,
      await claimTurn(system),
    )({ events: agentMessage('msg_1', 'ok'), outcome: COMPLETED });

  describe('SetAgentVersion', () => {
    const move = (sessionId: string, version: number, as = OWNER) =>
      system.edge.setAgentVersion({ sessionId, version }, { caller: as });

    it('sets the agent version of later turns', async () => {
      const sessionId = await begin();
      expect((await move(sessionId, 4)).session).toMatchObject({ agentVersion: 4 });
      expect((await move(sessionId, 4)).session).toMatchObject({ lastSeq: 2 });
      const events = await journalOf(system, sessionId);
      expect(JSON.parse(events.at(-1)?.json ?? '').data).toEqual({ changed: ['agent_version'] });
      await sendText(system, sessionId, 'now');
      expect(await claimTurn(system)).toMatchObject({ agentVersion: 4 });
    });

    it('refuses unfinished turns, unknown versions and other users', async () => {
      const sessionId = await begin('work');
      await expect(move(sessionId, 4)).rejects.toMatchObject({ code: 'SESSION_BUSY' });
      const turn = await claimTurn(system);
      const call = { id: 'call_1' };
      await createReporter(system, turn)({ events: toolCallStep('msg_1', call), outcome: blockedOn(call) });
      await expect(move(sessionId, 4)).rejects.toMatchObject({ code: 'SESSION_BUSY' });
      await system.edge.interruptSession({ sessionId }, { caller });
      await expect(move(sessionId, 9)).rejects.toMatchObject({ code: 'AGENT_VERSION_NOT_FOUND' });
      await expect(move(sessionId, 0)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
      await expect(move(sessionId, 4, STRANGER)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    });
  });

  describe('automatic titles', () => {
    it('are the beginning of the first message on one line', async () => {
      const words =
        'Tell me\n\tthe  answer to life, the universe and everything, and who asked for it anyway?';
      expect((await sessionOf(await begin(words)))?.title).toBe(
        'Tell me the answer to life, the universe and everything, and who asked for it…',
      );
      expect((await sessionOf(await begin('\u0000\ud800 bad')))?.title).toBe('\ufffd bad');
      expect((await sessionOf(await begin(' \n ')))?.title).toBe('');
      const faces = '😀'.repeat(80);
      expect((await sessionOf(await begin(faces)))?.title).toBe(faces);
      expect((await sessionOf(await begin(`${faces}!`)))?.title).toBe(`${'😀'.repeat(79)}…`);
    });

    it('are set by the first message of a session without a title and never replace a title', async () => {
      const sessionId = await begin();
      expect((await sessionOf(sessionId))?.title).toBe('');
      await sendText(system, sessionId, 'first');
      await sendText(system, sessionId, 'second');
      expect((await sessionOf(sessionId))?.title).toBe('first');
      const named = {
        agentId: AGENT,
        contentJson: content('hi'),
        title: 'Mine',
        metadata: {},
        idempotencyKey: '',
      };
      const { session } = await system.edge.createConversation(named, { caller });
      track(session?.sessionId ?? '');
      expect(session?.title).toBe('Mine');
    });
  });

  describe('ListTurns', () => {
    it('lists only unfinished turns on request', async () => {
      const sessionId = await begin('one');
      await finish();
      const { turnId } = await sendText(system, sessionId, 'two');
      const next = await sendText(system, sessionId, 'three');
      const page = { limit: 1, cursor: '' };
      const first = await system.edge.listTurns({ sessionId, page, unfinished: true }, { caller });
      expect(first.turns).toMatchObject([{ turnId, position: expect.any(Number) }]);
      const cursor = first.page?.nextCursor ?? '';
      const rest = await system.edge.listTurns(
        { sessionId, page: { limit: 5, cursor }, unfinished: true },
        { caller },
      );
      expect(rest.turns.map((turn) => turn.turnId)).toEqual([next.turnId]);
      expect(
        (await system.edge.listTurns({ sessionId, page: undefined, unfinished: false }, { caller })).turns,
      ).toHaveLength(3);
    });
  });

  describe('ListSessions', () => {
    const list = async (filter: object) =>
      (
        await system.edge.listSessions(
          {
            agentId: '',
            deploymentId: '',
            states: [],
            status: '',
            q: '',
            page: { limit: 50, cursor: '' },
            ...filter,
          },
          { caller },
        )
      ).sessions.map(({ sessionId }) => sessionId);

    it('filters by status and needs_action', async () => {
      const waits = await begin('waits');
      const call = { id: 'call_1' };
      await createReporter(
        system,
        await claimTurn(system),
      )({ events: toolCallStep('msg_1', call), outcome: blockedOn(call) });
      const runs = await begin('runs');
      await claimTurn(system);
      const queued = await begin('queued');
      const done = await begin();
      expect(await list({ needsAction: true })).toEqual([waits]);
      expect(await list({ needsAction: false })).toEqual([done, queued, runs]);
      expect(await list({ status: 'running' })).toEqual([runs]);
      expect(await list({ status: 'pending' })).toEqual([queued]);
      expect(await list({ status: 'idle' })).toEqual([done, waits]);
      await system.edge.archiveSession({ sessionId: done }, { caller });
      expect(await list({ archived: true })).toEqual([done]);
      expect(await list({ archived: false, status: 'idle' })).toEqual([waits]);
    });
  });

  describe('a turn that makes progress', () => {
    const failing = { code: 'model_overloaded', message: 'busy' };
    const retrying = { kind: { $case: 'retry' as const, value: { error: failing, delayMs: 10 } } };
    const wakes = () =>
      advanceUntil(
        'the turn is ready again',
        () => clock.advance(300),
        async () => (await claimTurns(system, 1))[0],
      );

    it('has all of its retries again', async () => {
      const sessionId = await begin('work');
      let report = createReporter(system, await claimTurn(system));
      for (let round = 0; round < 4; round++) {
        await report({ outcome: retrying });
        const turn = await wakes();
        expect(turn.failures).toBe(1);
        report = createReporter(system, turn);
        const id = `call_${round}`;
        await report({ events: toolCallStep(`msg_${round}`, { id }) });
        await report({ events: [toolDispatched(id, 1, turn.fence), toolResult(id)] });
      }
      await report({ events: agentMessage('msg_9', 'at last'), outcome: COMPLETED });
      expect(typesOf(await journalOf(system, sessionId)).filter((type) => type === 'turn.failed')).toEqual(
        [],
      );
    });
  });

  describe('RenewLeases', () => {
    it('extends leases before they expire and reports the leases of another runner as lost', async () => {
      await begin('work');
      const { sessionId, turnId, fence } = await claimTurn(system);
      const lease = { sessionId, turnId, fence };
      for (let second = 0; second < 40; second++) {
        clock.advance(1_000);
        const { lostTurnIds } = await system.runner.renewLeases({ runnerId: 'rnr_1', leases: [lease] });
        expect(lostTurnIds).toEqual([]);
      }
      const other = await system.runner.renewLeases({ runnerId: 'rnr_2', leases: [lease] });
      expect(other.lostTurnIds).toEqual([turnId]);
    });
  });
});
