import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { brokenInvariants } from '../../support/invariants.ts';
import {
  AGENT,
  COMPLETED,
  claimOne,
  converse,
  journalOf,
  OWNER,
  openHouse,
  STRANGER,
  say,
  typesOf,
} from './house.ts';
import { answering, calling, dispatching, reporter, resulting } from './loop.ts';

const caller = OWNER;

describe.each(TRANSPORTS)('ForkSession, %s', (transport) => {
  const clock = createFakeClock();
  let house: Awaited<ReturnType<typeof openHouse>>;
  beforeAll(async () => {
    house = await openHouse(transport, { clock });
  });
  afterEach(async () => expect(await brokenInvariants(house.database.url)).toEqual([]));
  afterAll(() => house[Symbol.asyncDispose]());

  const fork = async (sessionId: string, afterSeq: number, idempotencyKey = '') =>
    (await house.edge.forkSession({ sessionId, afterSeq, idempotencyKey }, { caller })).session;
  const seqOf = async (sessionId: string, type: string) =>
    (await journalOf(house, sessionId)).findLast((event) => event.type === type)?.seq ?? 0;

  /** A session with a turn that has used a tool, and a second one without. */
  async function worked() {
    const sessionId = await converse(house, 'count\u2028 these');
    const turn = await claimOne(house);
    const report = reporter(house, turn);
    await report({ events: calling('msg_1', { id: 'call_1', input: { z: 1, a: '\u0000' } }) });
    await report({ events: [dispatching('call_1', 1, turn.fence)] });
    await report({ events: [resulting('call_1', { big: 12345678901 })] });
    await report({ events: answering('msg_2', 'one'), outcome: COMPLETED });
    clock.advance(60_000);
    await say(house, sessionId, 'and more');
    await reporter(house, await claimOne(house))({ events: answering('msg_3', 'two'), outcome: COMPLETED });
    return sessionId;
  }

  it('makes a session with the same history, which goes on by itself', async () => {
    const sessionId = await worked();
    const before = await journalOf(house, sessionId);
    clock.advance(60_000);
    const made = await fork(sessionId, before.length);
    expect(made).toMatchObject({ agentId: AGENT, agentVersion: 3, status: 'idle', title: 'count these' });
    const copy = await journalOf(house, made?.sessionId ?? '');
    expect(typesOf(copy)).toEqual([
      'session.created',
      'session.forked',
      'user.message',
      'agent.message',
      'agent.tool_result',
      'agent.message',
      'user.message',
      'agent.message',
    ]);
    expect(made?.lastSeq).toBe(copy.length);
    // Everything of an event is as it was, but its place.
    const parts = (json: string) => {
      const { event_id, session_id, seq, traceparent, ...rest } = JSON.parse(json);
      return { ...rest, text: json.slice(json.indexOf('"data":')) };
    };
    const history = before.filter(({ type }) => copy.slice(2).some((one) => one.type === type));
    expect(copy.slice(2).map(({ json }) => parts(json))).toEqual(history.map(({ json }) => parts(json)));
    await say(house, made?.sessionId ?? '', 'go on');
    const turn = await claimOne(house);
    expect(turn.sessionId).toBe(made?.sessionId);
    expect(turn.messages).toHaveLength(7);
    await reporter(house, turn)({ events: answering('msg_4', 'three'), outcome: COMPLETED });
    expect(await journalOf(house, sessionId)).toEqual(before);
    expect(await fork(sessionId, before.length)).toEqual(
      await house.edge
        .listSessions(
          { agentId: '', deploymentId: '', status: '', q: '', page: { limit: 1, cursor: '' } },
          { caller },
        )
        .then(({ sessions }) => sessions[0]),
    );
  });

  it('begins at the last place at which no call lacks its result', async () => {
    const sessionId = await worked();
    const journal = await journalOf(house, sessionId);
    const seq = (type: string) => journal.find((event) => event.type === type)?.seq ?? 0;
    const forkedAt = async (afterSeq: number) => {
      const events = await journalOf(house, (await fork(sessionId, afterSeq))?.sessionId ?? '');
      return [JSON.parse(events[1]?.json ?? '').data.from_seq, events.length - 2];
    };
    expect(await forkedAt(0)).toEqual([0, 0]);
    expect(await forkedAt(seq('user.message'))).toEqual([2, 1]);
    expect(await forkedAt(seq('agent.message'))).toEqual([2, 1]);
    expect(await forkedAt(seq('agent.tool_result') - 1)).toEqual([2, 1]);
    expect(await forkedAt(seq('agent.tool_result'))).toEqual([seq('agent.tool_result'), 3]);
  });

  it('goes behind the call of a turn that was stopped', async () => {
    const sessionId = await converse(house, 'count');
    await reporter(house, await claimOne(house))({ events: calling('msg_1', { id: 'call_1' }) });
    await house.edge.interruptSession({ sessionId }, { caller });
    const made = await fork(sessionId, await seqOf(sessionId, 'turn.interrupted'));
    expect(typesOf(await journalOf(house, made?.sessionId ?? ''))).toContain('agent.tool_result');
  });

  it('outlives the session it came from', async () => {
    const sessionId = await worked();
    const made = await fork(sessionId, await seqOf(sessionId, 'session.status_idle'));
    const before = await journalOf(house, made?.sessionId ?? '');
    await house.edge.deleteSession({ sessionId }, { caller });
    expect(await journalOf(house, made?.sessionId ?? '')).toEqual(before);
  });

  it('is done once for a key', async () => {
    const sessionId = await worked();
    const one = await fork(sessionId, 2, 'fork-1');
    expect(await fork(sessionId, 2, 'fork-1')).toEqual(one);
    await expect(fork(sessionId, 3, 'fork-1')).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_CONFLICT' });
  });

  it('copies a long history in rows of a bearable size', async () => {
    const sessionId = await converse(house, 'a'.repeat(200_000));
    for (let i = 0; i < 5; i++) {
      const text = String(i).repeat(150_000);
      await reporter(
        house,
        await claimOne(house),
      )({ events: answering(`msg_${i}`, text), outcome: COMPLETED });
      await say(house, sessionId, 'more');
    }
    const made = await fork(sessionId, await seqOf(sessionId, 'user.message'));
    expect(typesOf(await journalOf(house, made?.sessionId ?? '')).slice(2)).toHaveLength(11);
    await house.edge.deleteSession({ sessionId }, { caller });
  });

  it('takes messages that are longer than a page', async () => {
    const sessionId = await converse(house, 'a'.repeat(5 * 1024 * 1024));
    await say(house, sessionId, 'b'.repeat(5 * 1024 * 1024));
    await say(house, sessionId, 'short');
    const made = await fork(sessionId, await seqOf(sessionId, 'user.message'));
    expect((await journalOf(house, made?.sessionId ?? '')).slice(2)).toHaveLength(3);
    const listed: string[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const page = { limit: 50, cursor };
      const answer = await house.edge.listMessages({ sessionId, page }, { caller });
      listed.push(...answer.events.map(({ type }) => type));
      cursor = answer.page?.nextCursor || undefined;
    }
    expect(listed).toHaveLength(3);
    await house.edge.deleteSession({ sessionId }, { caller });
  });

  it('is refused beyond the end, and to others', async () => {
    const sessionId = await worked();
    await expect(fork(sessionId, 10_000)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await expect(
      house.edge.forkSession({ sessionId, afterSeq: 1, idempotencyKey: '' }, { caller: STRANGER }),
    ).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  });
});
