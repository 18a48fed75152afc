import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { trackSessions } from './created-sessions.ts';
import {
  claimTurn,
  claimTurns,
  createConversation,
  journalOf,
  OWNER,
  openSystem,
  reportFor,
  STRANGER,
  sendReports,
  sendText,
  typesOf,
} from './system.ts';
import { createReporter, newEvent, toolCallStep, toolDispatched } from './turn-events.ts';

const caller = OWNER;
const delta = (text: string, index: number) =>
  newEvent('agent.message_delta', { message_id: 'msg_1', index, delta: text });
const unfinishedMessage = (...texts: string[]) => ({
  events: [newEvent('model.request_started', { model: 'rehearsal/script' }), ...texts.map(delta)],
  openMessageId: 'msg_1',
});

describe.each(TRANSPORTS)('InterruptSession over %s', (transport) => {
  const clock = createFakeClock();
  const stopped: string[] = [];
  let system: Awaited<ReturnType<typeof openSystem>>;
  beforeAll(async () => {
    system = await openSystem(transport, { clock });
    system.context.bus.subscribe('turns.interrupted', (turnId) => stopped.push(turnId));
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const { begin, track } = trackSessions(() => system);
  const interrupt = async (sessionId: string) =>
    (await system.edge.interruptSession({ sessionId }, { caller })).session;
  const dataOf = async (sessionId: string, type: string) =>
    (await journalOf(system, sessionId))
      .filter((one) => one.type === type)
      .map(({ json }) => JSON.parse(json).data);

  it('keeps the text of the unfinished message and revokes the lease', async () => {
    const sessionId = await begin('speak');
    const turn = await claimTurn(system);
    const report = createReporter(system, turn);
    await report(unfinishedMessage('Once ', 'upon 🌍 '));
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
    expect(typesOf(await journalOf(system, sessionId)).slice(-4)).toEqual([
      'user.interrupt',
      'agent.message',
      'turn.interrupted',
      'session.status_idle',
    ]);
    expect(stopped).toContain(turn.turnId);
    expect(await sendReports(system, reportFor(turn, 3))).toMatchObject([{ errorCode: 'LEASE_LOST' }]);
    const lease = { sessionId, turnId: turn.turnId, fence: turn.fence };
    const { lostTurnIds } = await system.runner.renewLeases({ runnerId: 'rnr_1', leases: [lease] });
    expect(lostTurnIds).toEqual([turn.turnId]);
  });

  it('keeps the text of the unfinished message without repeating earlier messages', async () => {
    const sessionId = await begin('speak');
    const report = createReporter(system, await claimTurn(system));
    await report({ events: toolCallStep('msg_0', { id: 'call_0' }) });
    await report({
      events: [
        newEvent('agent.tool_result', { tool_use_id: 'call_0', output: 1, is_error: false, duration_ms: 0 }),
      ],
    });
    await report(unfinishedMessage('second'));
    await interrupt(sessionId);
    const messages = await dataOf(sessionId, 'agent.message');
    expect(messages.map(({ content }) => content[0].text ?? content[0].type)).toEqual([
      'tool-call',
      'second',
    ]);
  });

  it('discards an unfinished message that has no text', async () => {
    const sessionId = await begin('think');
    const thought = { message_id: 'msg_1', content: [{ type: 'text', text: 'hm' }] };
    await createReporter(
      system,
      await claimTurn(system),
    )({
      events: [newEvent('model.request_started', { model: 'm' }), newEvent('agent.thinking', thought)],
      openMessageId: 'msg_1',
    });
    await interrupt(sessionId);
    expect(await dataOf(sessionId, 'agent.message_discarded')).toEqual([
      { message_id: 'msg_1', reason: 'interrupted' },
    ]);
  });

  it('gives every open call a result that states whether it was dispatched', async () => {
    const sessionId = await begin('count');
    const turn = await claimTurn(system);
    const report = createReporter(system, turn);
    await report({ events: toolCallStep('msg_1', { id: 'sent' }, { id: 'unsent' }) });
    await report({ events: [toolDispatched('sent', 1, turn.fence)] });
    await interrupt(sessionId);
    const results = await dataOf(sessionId, 'agent.tool_result');
    expect(results).toMatchObject([
      { tool_use_id: 'sent', is_error: true, output: expect.stringContaining('unknown') },
      { tool_use_id: 'unsent', is_error: true, output: expect.stringContaining('before') },
    ]);
  });

  it('makes the next queued turn ready', async () => {
    const sessionId = await begin('one');
    const turn = await claimTurn(system);
    await sendText(system, sessionId, 'two');
    await sendText(system, sessionId, 'three');
    expect(await interrupt(sessionId)).toMatchObject({ status: 'pending', queuedTurns: 2 });
    const next = await claimTurn(system);
    expect(next.turnId).not.toBe(turn.turnId);
    expect(next.messages.map(({ type }) => type)).toEqual(['user.message', 'user.message', 'user.message']);
  });

  it('cancels the first queued turn when no turn is in progress', async () => {
    const sessionId = await begin('one');
    await sendText(system, sessionId, 'two');
    expect(await interrupt(sessionId)).toMatchObject({ status: 'pending', queuedTurns: 1 });
    expect(await interrupt(sessionId)).toMatchObject({ status: 'idle', queuedTurns: 0 });
    expect(await dataOf(sessionId, 'turn.cancelled')).toMatchObject([
      { reason: 'interrupted' },
      { reason: 'interrupted' },
    ]);
    expect(await claimTurns(system)).toEqual([]);
  });

  it('interrupts a turn that sleeps after a failure', async () => {
    const sessionId = await begin('one');
    const turn = await claimTurn(system);
    const error = { code: 'model_overloaded', message: 'busy' };
    await createReporter(
      system,
      turn,
    )({ outcome: { kind: { $case: 'retry', value: { error, delayMs: 60_000 } } } });
    expect(await interrupt(sessionId)).toMatchObject({ status: 'idle', queuedTurns: 0 });
    expect(await dataOf(sessionId, 'turn.interrupted')).toMatchObject([{ turn_id: turn.turnId, attempt: 1 }]);
    clock.advance(61_000);
    expect(await claimTurns(system)).toEqual([]);
  });

  it('changes nothing without a turn, and refuses other users', async () => {
    const sessionId = await createConversation(system);
    track(sessionId);
    expect(await interrupt(sessionId)).toMatchObject({ status: 'idle', lastSeq: 1 });
    await expect(system.edge.interruptSession({ sessionId }, { caller: STRANGER })).rejects.toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
  });

  it('happens before a message with busy_policy interrupt is queued', async () => {
    const sessionId = await begin('one');
    await createReporter(system, await claimTurn(system))(unfinishedMessage('half a '));
    await sendText(system, sessionId, 'stop, do this', 'interrupt');
    expect(await dataOf(sessionId, 'agent.message')).toMatchObject([
      { content: [{ text: 'half a ' }], finish_reason: 'interrupted' },
    ]);
    expect((await claimTurn(system)).messages).toHaveLength(3);
  });

  it('happens to a sleeping and to a queued turn for a message with busy_policy interrupt', async () => {
    const sessionId = await begin('one');
    const error = { code: 'model_overloaded', message: 'busy' };
    const outcome = { kind: { $case: 'retry' as const, value: { error, delayMs: 60_000 } } };
    await createReporter(system, await claimTurn(system))({ outcome });
    const second = await sendText(system, sessionId, 'two', 'interrupt');
    await sendText(system, sessionId, 'three', 'interrupt');
    expect(await dataOf(sessionId, 'turn.interrupted')).toHaveLength(1);
    expect(await dataOf(sessionId, 'turn.cancelled')).toMatchObject([{ turn_id: second.turnId }]);
    expect((await claimTurn(system)).messages).toHaveLength(3);
    expect(await claimTurns(system)).toEqual([]);
  });
});
