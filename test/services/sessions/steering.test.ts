import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { brokenInvariants } from '../../support/invariants.ts';
import { passing } from '../../support/wait.ts';
import {
  AGENT,
  COMPLETED,
  claim,
  claimOne,
  content,
  converse,
  journalOf,
  OWNER,
  openHouse,
  STRANGER,
  say,
  typesOf,
} from './house.ts';
import { answering, asking, calling, dispatching, reporter, resulting } from './loop.ts';

const caller = OWNER;

describe.each(TRANSPORTS)('sessions, %s', (transport) => {
  const clock = createFakeClock();
  let house: Awaited<ReturnType<typeof openHouse>>;
  beforeAll(async () => {
    house = await openHouse(transport, { clock }, { maxFailures: 2 });
  });
  const begun: string[] = [];
  afterEach(async () => {
    expect(await brokenInvariants(house.database.url)).toEqual([]);
    for (const sessionId of begun.splice(0)) await house.edge.deleteSession({ sessionId }, { caller });
  });
  afterAll(() => house[Symbol.asyncDispose]());

  const begin = async (text?: string) => {
    const sessionId = await converse(house, text);
    begun.push(sessionId);
    return sessionId;
  };
  const sessionOf = async (sessionId: string) =>
    (await house.edge.getSession({ sessionId }, { caller })).session;
  const finish = async () =>
    reporter(house, await claimOne(house))({ events: answering('msg_1', 'ok'), outcome: COMPLETED });

  describe('SetAgentVersion', () => {
    const move = (sessionId: string, version: number, as = OWNER) =>
      house.edge.setAgentVersion({ sessionId, version }, { caller: as });

    it('pins the session to another version, for the turns to come', async () => {
      const sessionId = await begin();
      expect((await move(sessionId, 4)).session).toMatchObject({ agentVersion: 4 });
      expect((await move(sessionId, 4)).session).toMatchObject({ lastSeq: 2 });
      const events = await journalOf(house, sessionId);
      expect(JSON.parse(events.at(-1)?.json ?? '').data).toEqual({ changed: ['agent_version'] });
      await say(house, sessionId, 'now');
      expect(await claimOne(house)).toMatchObject({ agentVersion: 4 });
    });

    it('is refused while a turn is not finished, for a version that is missing, and to others', async () => {
      const sessionId = await begin('work');
      await expect(move(sessionId, 4)).rejects.toMatchObject({ code: 'SESSION_BUSY' });
      const turn = await claimOne(house);
      const call = { id: 'call_1' };
      await reporter(house, turn)({ events: calling('msg_1', call), outcome: asking(call) });
      await expect(move(sessionId, 4)).rejects.toMatchObject({ code: 'SESSION_BUSY' });
      await house.edge.interruptSession({ sessionId }, { caller });
      await expect(move(sessionId, 9)).rejects.toMatchObject({ code: 'AGENT_VERSION_NOT_FOUND' });
      await expect(move(sessionId, 0)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
      await expect(move(sessionId, 4, STRANGER)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    });
  });

  describe('titles', () => {
    it('are the beginning of the first message, on one line', async () => {
      const words =
        'What is\n\tthe  answer to life, the universe and everything, and who asked for it anyway?';
      expect((await sessionOf(await begin(words)))?.title).toBe(
        'What is the answer to life, the universe and everything, and who asked for it…',
      );
      expect((await sessionOf(await begin('\u0000\ud800 bad')))?.title).toBe('\ufffd bad');
      expect((await sessionOf(await begin(' \n ')))?.title).toBe('');
    });

    it('come with the first message of a session that began without one, and never replace one', async () => {
      const sessionId = await begin();
      expect((await sessionOf(sessionId))?.title).toBe('');
      await say(house, sessionId, 'first');
      await say(house, sessionId, 'second');
      expect((await sessionOf(sessionId))?.title).toBe('first');
      const named = {
        agentId: AGENT,
        contentJson: content('hi'),
        title: 'Mine',
        metadata: {},
        idempotencyKey: '',
      };
      const { session } = await house.edge.createConversation(named, { caller });
      begun.push(session?.sessionId ?? '');
      expect(session?.title).toBe('Mine');
    });
  });

  describe('ListTurns', () => {
    it('lists only the turns that have not ended when it is asked to', async () => {
      const sessionId = await begin('one');
      await finish();
      const { turnId } = await say(house, sessionId, 'two');
      const next = await say(house, sessionId, 'three');
      const page = { limit: 1, cursor: '' };
      const first = await house.edge.listTurns({ sessionId, page, unfinished: true }, { caller });
      expect(first.turns).toMatchObject([{ turnId, position: expect.any(Number) }]);
      const cursor = first.page?.nextCursor ?? '';
      const rest = await house.edge.listTurns(
        { sessionId, page: { limit: 5, cursor }, unfinished: true },
        { caller },
      );
      expect(rest.turns.map((turn) => turn.turnId)).toEqual([next.turnId]);
      expect(
        (await house.edge.listTurns({ sessionId, page: undefined, unfinished: false }, { caller })).turns,
      ).toHaveLength(3);
    });
  });

  describe('ListSessions', () => {
    const list = async (filter: object) =>
      (
        await house.edge.listSessions(
          { agentId: '', deploymentId: '', status: '', q: '', page: { limit: 50, cursor: '' }, ...filter },
          { caller },
        )
      ).sessions.map(({ sessionId }) => sessionId);

    it('finds what runs, what waits and what needs somebody', async () => {
      const waits = await begin('waits');
      const call = { id: 'call_1' };
      await reporter(house, await claimOne(house))({ events: calling('msg_1', call), outcome: asking(call) });
      const runs = await begin('runs');
      await claimOne(house);
      const queued = await begin('queued');
      const done = await begin();
      expect(await list({ needsAction: true })).toEqual([waits]);
      expect(await list({ needsAction: false })).toEqual([done, queued, runs]);
      expect(await list({ status: 'running' })).toEqual([runs]);
      expect(await list({ status: 'pending' })).toEqual([queued]);
      expect(await list({ status: 'idle' })).toEqual([done, waits]);
      await house.edge.archiveSession({ sessionId: done }, { caller });
      expect(await list({ archived: true })).toEqual([done]);
      expect(await list({ archived: false, status: 'idle' })).toEqual([waits]);
    });
  });

  describe('a turn that gets on', () => {
    const failing = { code: 'model_overloaded', message: 'busy' };
    const retrying = { kind: { $case: 'retry' as const, value: { error: failing, delayMs: 10 } } };
    const wakes = () =>
      passing(
        'the turn is ready again',
        () => clock.advance(300),
        async () => (await claim(house, 1))[0],
      );

    it('has all of its tries again', async () => {
      const sessionId = await begin('work');
      let report = reporter(house, await claimOne(house));
      for (let round = 0; round < 4; round++) {
        await report({ outcome: retrying });
        const turn = await wakes();
        expect(turn.failures).toBe(1);
        report = reporter(house, turn);
        const id = `call_${round}`;
        await report({ events: calling(`msg_${round}`, { id }) });
        await report({ events: [dispatching(id, 1, turn.fence), resulting(id)] });
      }
      await report({ events: answering('msg_9', 'at last'), outcome: COMPLETED });
      expect(typesOf(await journalOf(house, sessionId)).filter((type) => type === 'turn.failed')).toEqual([]);
    });
  });

  describe('RenewLeases', () => {
    it('extends a lease that is no longer fresh, and answers for all of them', async () => {
      await begin('work');
      const { sessionId, turnId, fence } = await claimOne(house);
      const lease = { sessionId, turnId, fence };
      for (let second = 0; second < 40; second++) {
        clock.advance(1_000);
        const { lostTurnIds } = await house.runner.renewLeases({ runnerId: 'rnr_1', leases: [lease] });
        expect(lostTurnIds).toEqual([]);
      }
      const other = await house.runner.renewLeases({ runnerId: 'rnr_2', leases: [lease] });
      expect(other.lostTurnIds).toEqual([turnId]);
    });
  });
});
