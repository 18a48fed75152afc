import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { passing } from '../../support/wait.ts';
import {
  AGENT,
  COMPLETED,
  claim,
  claimOne,
  converse,
  type House,
  journalOf,
  OWNER,
  openHouse,
  reportOn,
  say,
  send,
  typesOf,
} from './house.ts';

const APPENDED = { errorCode: '', errorMessage: '' };
const LOST = { errorCode: 'LEASE_LOST' };
const delta = (text: string, index = 0) => ({
  type: 'agent.message_delta',
  dataJson: JSON.stringify({ message_id: 'msg_1', index, delta: text }),
});
const retry = (code: string, delayMs = 0) => ({
  kind: { $case: 'retry' as const, value: { error: { code, message: 'busy' }, delayMs } },
});

describe.each(TRANSPORTS)('turns, %s', (transport) => {
  const clock = createFakeClock();
  let house: House;
  beforeAll(async () => {
    house = await openHouse(transport, { clock });
  });
  afterAll(() => house[Symbol.asyncDispose]());

  const statusOf = async (sessionId: string) =>
    (await house.edge.getSession({ sessionId }, { caller: OWNER })).session;
  const turnsOf = async (sessionId: string) =>
    (
      await house.edge.listTurns(
        { sessionId, page: { limit: 50, cursor: '' }, unfinished: false },
        { caller: OWNER },
      )
    ).turns;
  /** Moves time until the sweeper has made the turn claimable again. */
  const claimAfter = (ms: number) => {
    clock.advance(ms);
    return passing(
      'the turn is ready again',
      () => clock.advance(300),
      async () => (await claim(house, 1, 'rnr_2'))[0],
    );
  };

  it('are claimed with their messages, reported and finished once', async () => {
    const sessionId = await converse(house, 'work');
    const turn = await claimOne(house);
    expect(turn).toMatchObject({
      sessionId,
      agentId: AGENT,
      agentVersion: 3,
      attempt: 1,
      ownerId: OWNER.userId,
    });
    expect(turn.messages.map((event) => JSON.parse(event.json).data.content[0].text)).toEqual(['work']);
    expect(turn.messagesIncomplete).toBe(false);
    expect(await statusOf(sessionId)).toMatchObject({
      status: 'running',
      currentTurnId: turn.turnId,
      queuedTurns: 0,
    });
    const usage = { inputTokens: 3, outputTokens: 4, steps: 1, toolCalls: 0, activeMs: 1500 };
    const message = { type: 'agent.message', dataJson: '{"message_id":"msg_1","content":[]}' };
    expect(await send(house, reportOn(turn, 1, { events: [delta('hi')], openMessageId: 'msg_1' }))).toEqual([
      APPENDED,
    ]);
    expect(await send(house, reportOn(turn, 2, { events: [message], usage, outcome: COMPLETED }))).toEqual([
      APPENDED,
    ]);
    expect(await send(house, reportOn(turn, 3, { outcome: COMPLETED }))).toMatchObject([LOST]);
    expect(await statusOf(sessionId)).toMatchObject({
      status: 'idle',
      stopReasonJson: '{"type":"end_turn"}',
      currentTurnId: '',
      usage,
    });
    expect(await turnsOf(sessionId)).toMatchObject([
      { turnId: turn.turnId, status: 'completed', attempt: 1, usage },
    ]);
    expect(typesOf(await journalOf(house, sessionId))).toEqual([
      'session.created',
      'user.message',
      'turn.queued',
      'session.status_pending',
      'turn.started',
      'session.status_running',
      'agent.message_delta',
      'agent.message',
      'turn.completed',
      'session.status_idle',
    ]);
  });

  it('run one at a time in a session, in the order of their messages', async () => {
    const sessionId = await converse(house, 'one');
    await say(house, sessionId, 'two');
    await say(house, sessionId, 'three');
    const order: string[] = [];
    for (let i = 0; i < 3; i++) {
      const [turn, ...others] = await claim(house);
      expect(others).toEqual([]);
      if (!turn) throw new Error('no turn');
      const own = turn.messages
        .map((event) => JSON.parse(event.json))
        .find((event) => event.turn_id === turn.turnId);
      order.push(own.data.content[0].text);
      await send(house, reportOn(turn, 1, { outcome: COMPLETED }));
    }
    expect(order).toEqual(['one', 'two', 'three']);
    expect(await statusOf(sessionId)).toMatchObject({ status: 'idle', queuedTurns: 0 });
  });

  it('are handed to one runner only, however many ask at once', async () => {
    const made = await Promise.all(Array.from({ length: 30 }, (_, i) => converse(house, `parallel ${i}`)));
    const claims = await Promise.all(
      ['a', 'b', 'c', 'd', 'e'].map((name) => claim(house, 10, `rnr_${name}`)),
    );
    const rest = await claim(house, 100);
    const turns = [...claims.flat(), ...rest];
    expect(turns.map((turn) => turn.sessionId).sort()).toEqual(made.sort());
    await send(house, ...turns.map((turn) => reportOn(turn, 1, { outcome: COMPLETED })));
    for (const sessionId of made) expect(await statusOf(sessionId)).toMatchObject({ status: 'idle' });
  });

  it('prefer those a person waits for', async () => {
    const invocation = {
      deploymentId: 'dep_01M7XYC91CC5TE06JQWDWRTJVD',
      agentId: AGENT,
      agentVersion: 3,
      ownerId: OWNER.userId,
      text: 'hook',
      bodyBytes: 4,
      sourceAddress: '::1',
    };
    await house.deployments.createSession({ ...invocation, invocationId: 'inv_01M7XYC91CC5TE06JQWDWRTJVX' });
    const sessionId = await converse(house, 'human');
    const first = await claimOne(house);
    const second = await claimOne(house);
    expect([first.sessionId, second.sessionId]).toEqual([sessionId, 'ses_01M7XYC91CC5TE06JQWDWRTJVX']);
    await send(
      house,
      reportOn(first, 1, { outcome: COMPLETED }),
      reportOn(second, 1, { outcome: COMPLETED }),
    );
  });

  it('append a repeated report once', async () => {
    const sessionId = await converse(house, 'again');
    const turn = await claimOne(house);
    const report = reportOn(turn, 1, { events: [delta('once')] });
    expect(await send(house, report)).toEqual([APPENDED]);
    expect(await send(house, report)).toEqual([APPENDED]);
    await send(house, reportOn(turn, 2, { outcome: COMPLETED }));
    const deltas = typesOf(await journalOf(house, sessionId)).filter(
      (type) => type === 'agent.message_delta',
    );
    expect(deltas).toHaveLength(1);
  });

  it('go to another runner when the lease runs out, and the late one is refused', async () => {
    const sessionId = await converse(house, 'lost');
    const first = await claimOne(house);
    await send(house, reportOn(first, 1, { events: [delta('half')], openMessageId: 'msg_1' }));
    const second = await claimAfter(16_000);
    expect(second).toMatchObject({ turnId: first.turnId, attempt: 2 });
    expect(second.fence).toBeGreaterThan(first.fence);
    expect(
      await send(house, reportOn(first, 2, { events: [delta('late')], outcome: COMPLETED })),
    ).toMatchObject([LOST]);
    const renewed = await house.runner.renewLeases({ runnerId: 'rnr_1', leases: [first] });
    expect(renewed.lostTurnIds).toEqual([first.turnId]);
    await send(house, reportOn(second, 1, { outcome: COMPLETED }));
    const types = typesOf(await journalOf(house, sessionId));
    expect(types.slice(6)).toEqual([
      'agent.message_delta',
      'agent.message_discarded',
      'session.status_rescheduled',
      'turn.started',
      'session.status_running',
      'turn.completed',
      'session.status_idle',
    ]);
  });

  it('stay with a runner that renews', async () => {
    await converse(house, 'long');
    const turn = await claimOne(house);
    for (let i = 0; i < 4; i++) {
      clock.advance(10_000);
      expect(await house.runner.renewLeases({ runnerId: 'rnr_1', leases: [turn] })).toEqual({
        lostTurnIds: [],
      });
    }
    expect(await send(house, reportOn(turn, 1, { outcome: COMPLETED }))).toEqual([APPENDED]);
  });

  it('sleep after a failure that may pass, and fail when it does not', async () => {
    const sessionId = await converse(house, 'flaky');
    let turn = await claimOne(house);
    for (const delayMs of [5_000, 0]) {
      await send(house, reportOn(turn, 1, { outcome: retry('model_overloaded', delayMs) }));
      expect(await statusOf(sessionId)).toMatchObject({ status: 'rescheduling', currentTurnId: '' });
      expect(await claim(house)).toEqual([]);
      turn = await claimAfter(delayMs);
    }
    expect(turn.attempt).toBe(3);
    await send(house, reportOn(turn, 1, { outcome: retry('model_overloaded') }));
    expect(await statusOf(sessionId)).toMatchObject({
      status: 'idle',
      stopReasonJson: '{"type":"retries_exhausted"}',
    });
    expect(await turnsOf(sessionId)).toMatchObject([
      { status: 'failed', errorJson: '{"code":"model_overloaded","message":"busy"}' },
    ]);
    const errors = (await journalOf(house, sessionId)).filter((event) => event.type === 'session.error');
    expect(errors.map((event) => JSON.parse(event.json).data.retry_status)).toEqual([
      'retrying',
      'retrying',
      'exhausted',
    ]);
  });

  it('come back at once from a runner that stops, without counting as a failure', async () => {
    await converse(house, 'handed back');
    const turn = await claimOne(house);
    await send(house, reportOn(turn, 1, { outcome: retry('runner_stopping', 1) }));
    const again = await claimOne(house, 'rnr_2');
    expect(again).toMatchObject({ turnId: turn.turnId, attempt: 2 });
    await send(house, reportOn(again, 1, { outcome: COMPLETED }));
  });

  it('end interrupted when a message asks for it', async () => {
    const sessionId = await converse(house, 'slow');
    const turn = await claimOne(house);
    await say(house, sessionId, 'stop, do this', 'interrupt');
    expect(await send(house, reportOn(turn, 1, { outcome: COMPLETED }))).toMatchObject([LOST]);
    const next = await claimOne(house);
    await send(house, reportOn(next, 1, { outcome: COMPLETED }));
    expect(await turnsOf(sessionId)).toMatchObject([{ status: 'interrupted' }, { status: 'completed' }]);
  });

  it('end with their session when it is deleted', async () => {
    const sessionId = await converse(house, 'doomed');
    const turn = await claimOne(house);
    await say(house, sessionId, 'waiting');
    await house.edge.deleteSession({ sessionId }, { caller: OWNER });
    expect(await send(house, reportOn(turn, 1, { events: [delta('x')] }))).toMatchObject([LOST]);
    expect(await claim(house)).toEqual([]);
  });

  it('may not report what only the service itself writes', async () => {
    const sessionId = await converse(house, 'forger');
    const turn = await claimOne(house);
    const forged = { type: 'session.status_idle', dataJson: '{}' };
    const broken = { type: 'agent.message', dataJson: '{"a":\n1}' };
    expect(await send(house, reportOn(turn, 1, { events: [forged] }))).toMatchObject([
      { errorCode: 'INVALID_REQUEST' },
    ]);
    expect(await send(house, reportOn(turn, 1, { events: [broken] }))).toMatchObject([
      { errorCode: 'INVALID_REQUEST' },
    ]);
    await send(house, reportOn(turn, 1, { outcome: COMPLETED }));
    expect(typesOf(await journalOf(house, sessionId)).at(-1)).toBe('session.status_idle');
  });

  it('do not suffer from a neighbour in the same call whose data is not JSON', async () => {
    await Promise.all([converse(house, 'good'), converse(house, 'bad')]);
    const [good, bad] = await claim(house);
    if (!good || !bad) throw new Error('two turns');
    const results = await send(
      house,
      reportOn(bad, 1, { events: [{ type: 'agent.message', dataJson: '{"open' }] }),
      reportOn(good, 1, { events: [delta('fine')] }),
    );
    expect(results[0]?.errorCode).not.toBe('');
    expect(results[1]).toEqual(APPENDED);
    await send(house, reportOn(bad, 1, { outcome: COMPLETED }), reportOn(good, 2, { outcome: COMPLETED }));
  });
});

describe('turns of one agent', () => {
  it('wait when as many as allowed are running', async () => {
    await using house = await openHouse('in process', {}, { maxTurnsPerAgent: 2 });
    await Promise.all([1, 2, 3].map((i) => converse(house, `${i}`)));
    const running = await claim(house);
    expect(running).toHaveLength(2);
    expect(await claim(house)).toEqual([]);
    await send(house, ...running.slice(0, 1).map((turn) => reportOn(turn, 1, { outcome: COMPLETED })));
    expect(await claim(house)).toHaveLength(1);
  });
});
