import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClaimedTurn } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { brokenInvariants } from '../../support/invariants.ts';
import {
  COMPLETED,
  claim,
  claimOne,
  converse,
  type House,
  journalOf,
  OWNER,
  openHouse,
  openReplica,
  reportOn,
  say,
  send,
  typesOf,
} from './house.ts';

const APPENDED = { errorCode: '', errorMessage: '' };
const asked = (model: string) => ({ type: 'model.request_started', dataJson: JSON.stringify({ model }) });
const rename = (house: House, sessionId: string, title: string) =>
  house.edge.updateSession({ sessionId, title, metadata: undefined }, { caller: OWNER });

describe('two replicas of sessions', () => {
  let here: House & { database: { url: string } };
  let there: House;
  beforeAll(async () => {
    here = await openHouse('in process');
    there = await openReplica('in process', here.context);
  });
  afterAll(async () => {
    await there[Symbol.asyncDispose]();
    await here[Symbol.asyncDispose]();
  });

  const statusOf = async (house: House, sessionId: string) =>
    (await house.edge.getSession({ sessionId }, { caller: OWNER })).session;

  it('append a report after a change that the claiming replica has not heard of', async () => {
    const sessionId = await converse(here, 'work');
    const turn = await claimOne(here);
    await rename(there, sessionId, 'renamed elsewhere');
    expect(await send(here, reportOn(turn, 1, { events: [asked('one')] }))).toEqual([APPENDED]);
    expect(await send(there, reportOn(turn, 2, { events: [asked('two')] }))).toEqual([APPENDED]);
    expect(await send(here, reportOn(turn, 3, { outcome: COMPLETED }))).toEqual([APPENDED]);
    expect(typesOf(await journalOf(here, sessionId)).slice(4)).toEqual([
      'turn.started',
      'session.status_running',
      'session.updated',
      'model.request_started',
      'model.request_started',
      'turn.completed',
      'session.status_idle',
    ]);
  });

  it('begin the turn that was queued through the other one meanwhile', async () => {
    const sessionId = await converse(here, 'first');
    const turn = await claimOne(here);
    await say(there, sessionId, 'second');
    await send(here, reportOn(turn, 1, { outcome: COMPLETED }));
    expect(await statusOf(here, sessionId)).toMatchObject({ status: 'pending', queuedTurns: 1 });
    const next = await claimOne(there);
    expect(next.sessionId).toBe(sessionId);
    await send(here, reportOn(next, 1, { outcome: COMPLETED }));
    expect(await statusOf(there, sessionId)).toMatchObject({ status: 'idle', queuedTurns: 0 });
  });

  it('refuse the runner whose turn was interrupted through the other one', async () => {
    const sessionId = await converse(here, 'first');
    const turn = await claimOne(here);
    await say(there, sessionId, 'no, this', 'interrupt');
    const late = reportOn(turn, 1, { events: [asked('too late')], outcome: COMPLETED });
    expect(await send(here, late)).toMatchObject([{ errorCode: 'LEASE_LOST' }]);
    await send(there, reportOn(await claimOne(there), 1, { outcome: COMPLETED }));
    expect(typesOf(await journalOf(here, sessionId))).not.toContain('model.request_started');
  });

  it('append a report that was sent twice once, though each went to another one', async () => {
    const sessionId = await converse(here, 'work');
    const turn = await claimOne(here);
    const first = reportOn(turn, 1, { events: [asked('once')] });
    expect(await send(here, first)).toEqual([APPENDED]);
    expect(await send(there, first)).toEqual([APPENDED]);
    expect(await send(here, first)).toEqual([APPENDED]);
    await send(here, reportOn(turn, 2, { outcome: COMPLETED }));
    expect(
      typesOf(await journalOf(here, sessionId)).filter((type) => type === 'model.request_started'),
    ).toHaveLength(1);
  });

  it('keep every journal whole while both change the same sessions at once', async () => {
    const houses = [here, there];
    const sessions = await Promise.all(Array.from({ length: 12 }, (_, i) => converse(here, `begin ${i}`)));
    const MESSAGES = 5;
    let talking = true;

    async function talk(sessionId: string, index: number): Promise<void> {
      for (let i = 0; i < MESSAGES; i++) {
        const house = houses[(index + i) % 2] as House;
        await Promise.all([say(house, sessionId, `more ${i}`), rename(house, sessionId, `title ${i}`)]);
      }
    }
    async function run(turn: ClaimedTurn): Promise<void> {
      for (let seq = 1; seq <= 4; seq++) {
        const house = houses[(turn.fence + seq) % 2] as House;
        const outcome = seq === 4 ? COMPLETED : undefined;
        const [result] = await send(house, reportOn(turn, seq, { events: [asked(`${seq}`)], outcome }));
        expect(result).toEqual(APPENDED);
      }
    }
    async function work(house: House, runnerId: string): Promise<void> {
      for (;;) {
        const turns = await claim(house, 8, runnerId);
        if (turns.length === 0 && !talking) return;
        await Promise.all(turns.map(run));
      }
    }
    const runners = houses.flatMap((house, i) => [work(house, `rnr_${i}a`), work(house, `rnr_${i}b`)]);
    await Promise.all(sessions.map(talk));
    talking = false;
    await Promise.all(runners);

    for (const sessionId of sessions) {
      const journal = await journalOf(here, sessionId);
      expect(journal.map((event) => event.seq)).toEqual(journal.map((_, i) => i + 1));
      const types = typesOf(journal);
      const count = (type: string) => types.filter((one) => one === type).length;
      expect(count('turn.started')).toBe(MESSAGES + 1);
      expect(count('turn.completed')).toBe(MESSAGES + 1);
      expect(count('model.request_started')).toBe(4 * (MESSAGES + 1));
      expect(count('session.updated')).toBe(MESSAGES);
      expect(await statusOf(there, sessionId)).toMatchObject({
        status: 'idle',
        queuedTurns: 0,
        lastSeq: journal.length,
        title: `title ${MESSAGES - 1}`,
      });
    }
    expect(await brokenInvariants(here.context.databaseUrl)).toEqual([]);
  });
});
