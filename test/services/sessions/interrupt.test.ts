import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { brokenInvariants } from '../../support/invariants.ts';
import {
  claim,
  claimOne,
  converse,
  journalOf,
  OWNER,
  openHouse,
  reportOn,
  STRANGER,
  say,
  send,
  typesOf,
} from './house.ts';
import { calling, dispatching, event, reporter } from './loop.ts';

const caller = OWNER;
const delta = (text: string, index: number) =>
  event('agent.message_delta', { message_id: 'msg_1', index, delta: text });
const speaking = (...texts: string[]) => ({
  events: [event('model.request_started', { model: 'rehearsal/script' }), ...texts.map(delta)],
  openMessageId: 'msg_1',
});

describe.each(TRANSPORTS)('InterruptSession, %s', (transport) => {
  const clock = createFakeClock();
  const stopped: string[] = [];
  let house: Awaited<ReturnType<typeof openHouse>>;
  beforeAll(async () => {
    house = await openHouse(transport, { clock });
    house.context.bus.subscribe('turns.interrupted', (turnId) => stopped.push(turnId));
  });
  const begun: string[] = [];
  afterEach(async () => {
    expect(await brokenInvariants(house.database.url)).toEqual([]);
    for (const sessionId of begun.splice(0)) {
      await house.edge.deleteSession({ sessionId }, { caller }).catch(() => {});
    }
  });
  afterAll(() => house[Symbol.asyncDispose]());

  const begin = async (text: string) => {
    const sessionId = await converse(house, text);
    begun.push(sessionId);
    return sessionId;
  };
  const interrupt = async (sessionId: string) =>
    (await house.edge.interruptSession({ sessionId }, { caller })).session;
  const dataOf = async (sessionId: string, type: string) =>
    (await journalOf(house, sessionId))
      .filter((one) => one.type === type)
      .map(({ json }) => JSON.parse(json).data);

  it('keeps what was said so far, byte for byte what followers have seen, and tells the runner', async () => {
    const sessionId = await begin('speak');
    const turn = await claimOne(house);
    const report = reporter(house, turn);
    await report(speaking('Once ', 'upon 🌍 '));
    await report({ events: [delta('a time', 2)], openMessageId: 'msg_1' });
    const session = await interrupt(sessionId);
    expect(session).toMatchObject({ status: 'idle', currentTurnId: '', queuedTurns: 0 });
    expect(JSON.parse(session?.stopReasonJson ?? '')).toEqual({ type: 'interrupted' });
    expect(await dataOf(sessionId, 'agent.message')).toEqual([
      {
        message_id: 'msg_1',
        content: [{ type: 'text', text: 'Once upon 🌍 a time' }],
        model: 'rehearsal/script',
        finish_reason: 'interrupted',
      },
    ]);
    expect(typesOf(await journalOf(house, sessionId)).slice(-4)).toEqual([
      'user.interrupt',
      'agent.message',
      'turn.interrupted',
      'session.status_idle',
    ]);
    expect(stopped).toContain(turn.turnId);
    expect(await send(house, reportOn(turn, 3))).toMatchObject([{ errorCode: 'LEASE_LOST' }]);
    const lease = { sessionId, turnId: turn.turnId, fence: turn.fence };
    const { lostTurnIds } = await house.runner.renewLeases({ runnerId: 'rnr_1', leases: [lease] });
    expect(lostTurnIds).toEqual([turn.turnId]);
  });

  it('keeps only the message under way, not the ones before it', async () => {
    const sessionId = await begin('speak');
    const report = reporter(house, await claimOne(house));
    await report({ events: calling('msg_0', { id: 'call_0' }) });
    await report({
      events: [
        event('agent.tool_result', { tool_use_id: 'call_0', output: 1, is_error: false, duration_ms: 0 }),
      ],
    });
    await report(speaking('second'));
    await interrupt(sessionId);
    const messages = await dataOf(sessionId, 'agent.message');
    expect(messages.map(({ content }) => content[0].text ?? content[0].type)).toEqual([
      'tool-call',
      'second',
    ]);
  });

  it('discards a message that has only been thought about', async () => {
    const sessionId = await begin('think');
    const thought = { message_id: 'msg_1', content: [{ type: 'text', text: 'hm' }] };
    await reporter(
      house,
      await claimOne(house),
    )({
      events: [event('model.request_started', { model: 'm' }), event('agent.thinking', thought)],
      openMessageId: 'msg_1',
    });
    await interrupt(sessionId);
    expect(await dataOf(sessionId, 'agent.message_discarded')).toEqual([
      { message_id: 'msg_1', reason: 'interrupted' },
    ]);
  });

  it('gives every open call a result that says what is known of it', async () => {
    const sessionId = await begin('count');
    const turn = await claimOne(house);
    const report = reporter(house, turn);
    await report({ events: calling('msg_1', { id: 'sent' }, { id: 'unsent' }) });
    await report({ events: [dispatching('sent', 1, turn.fence)] });
    await interrupt(sessionId);
    const results = await dataOf(sessionId, 'agent.tool_result');
    expect(results).toMatchObject([
      { tool_use_id: 'sent', is_error: true, output: expect.stringContaining('unknown') },
      { tool_use_id: 'unsent', is_error: true, output: expect.stringContaining('before') },
    ]);
  });

  it('goes on with the next message in the queue', async () => {
    const sessionId = await begin('one');
    const turn = await claimOne(house);
    await say(house, sessionId, 'two');
    await say(house, sessionId, 'three');
    expect(await interrupt(sessionId)).toMatchObject({ status: 'pending', queuedTurns: 2 });
    const next = await claimOne(house);
    expect(next.turnId).not.toBe(turn.turnId);
    expect(next.messages.map(({ type }) => type)).toEqual(['user.message', 'user.message', 'user.message']);
  });

  it('takes the first of the queue out of it when nothing runs yet', async () => {
    const sessionId = await begin('one');
    await say(house, sessionId, 'two');
    expect(await interrupt(sessionId)).toMatchObject({ status: 'pending', queuedTurns: 1 });
    expect(await interrupt(sessionId)).toMatchObject({ status: 'idle', queuedTurns: 0 });
    expect(await dataOf(sessionId, 'turn.cancelled')).toMatchObject([
      { reason: 'interrupted' },
      { reason: 'interrupted' },
    ]);
    expect(await claim(house)).toEqual([]);
  });

  it('stops a turn that sleeps after a failure', async () => {
    const sessionId = await begin('one');
    const turn = await claimOne(house);
    const error = { code: 'model_overloaded', message: 'busy' };
    await reporter(house, turn)({ outcome: { kind: { $case: 'retry', value: { error, delayMs: 60_000 } } } });
    expect(await interrupt(sessionId)).toMatchObject({ status: 'idle', queuedTurns: 0 });
    expect(await dataOf(sessionId, 'turn.interrupted')).toMatchObject([{ turn_id: turn.turnId, attempt: 1 }]);
    clock.advance(61_000);
    expect(await claim(house)).toEqual([]);
  });

  it('does nothing where there is nothing to stop, and is refused to others', async () => {
    const sessionId = await converse(house);
    begun.push(sessionId);
    expect(await interrupt(sessionId)).toMatchObject({ status: 'idle', lastSeq: 1 });
    await expect(house.edge.interruptSession({ sessionId }, { caller: STRANGER })).rejects.toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
  });

  it('is what a message with busy_policy interrupt does first', async () => {
    const sessionId = await begin('one');
    await reporter(house, await claimOne(house))(speaking('half a '));
    await say(house, sessionId, 'stop, do this', 'interrupt');
    expect(await dataOf(sessionId, 'agent.message')).toMatchObject([
      { content: [{ text: 'half a ' }], finish_reason: 'interrupted' },
    ]);
    expect((await claimOne(house)).messages).toHaveLength(3);
  });

  it('is what such a message does to a turn that sleeps or has not begun, too', async () => {
    const sessionId = await begin('one');
    const error = { code: 'model_overloaded', message: 'busy' };
    const outcome = { kind: { $case: 'retry' as const, value: { error, delayMs: 60_000 } } };
    await reporter(house, await claimOne(house))({ outcome });
    const second = await say(house, sessionId, 'two', 'interrupt');
    await say(house, sessionId, 'three', 'interrupt');
    expect(await dataOf(sessionId, 'turn.interrupted')).toHaveLength(1);
    expect(await dataOf(sessionId, 'turn.cancelled')).toMatchObject([{ turn_id: second.turnId }]);
    expect((await claimOne(house)).messages).toHaveLength(3);
    expect(await claim(house)).toEqual([]);
  });
});
