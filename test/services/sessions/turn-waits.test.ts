import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLocalBus } from '../../../lib/bus/local.ts';
import { TurnWaits } from '../../../services/sessions/turn-waits.ts';
import { createFakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { until } from '../../support/wait.ts';
import {
  COMPLETED,
  claimTurn,
  content,
  createConversation,
  OWNER,
  openSystem,
  reportFor,
  sendReports,
  sendText,
} from './system.ts';

const SESSION = 'ses_1';

/** A wait for a counter that is final at 2. */
function openWait({ waitMs = 60_000, signal = new AbortController().signal } = {}) {
  const bus = createLocalBus();
  const clock = createFakeClock();
  const waits = new TurnWaits({ bus, clock });
  const state = { value: 0, reads: 0 };
  const read = async () => {
    state.reads++;
    return state.value;
  };
  const options = { sessionId: SESSION, waitMs, read, isFinal: (value: number) => value === 2 };
  const answer = waits.wait(options, { signal, deadline: Number.POSITIVE_INFINITY });
  answer.catch(() => {});
  return { bus, clock, waits, state, answer, options };
}

describe('TurnWaits.wait', () => {
  it('reads once, once more for each hint of its session, and resolves with the final value', async () => {
    const { bus, state, answer, waits } = openWait();
    await until('1 reads', () => state.reads === 1);
    bus.publish('sessions.appended', 'ses_2');
    state.value = 1;
    bus.publish('sessions.appended', SESSION);
    await until('2 reads', () => state.reads === 2);
    state.value = 2;
    bus.publish('sessions.appended', SESSION);
    expect(await answer).toBe(2);
    expect(state.reads).toBe(3);
    expect(waits.count).toBe(0);
  });

  it('finds a change without a hint at the next poll', async () => {
    const { clock, state, answer } = openWait();
    await until('the wait sleeps', () => clock.pending === 2);
    state.value = 2;
    clock.advance(5_000);
    expect(await answer).toBe(2);
    expect(clock.pending).toBe(0);
  });

  it('resolves with the last value when the time is over', async () => {
    const { clock, answer } = openWait({ waitMs: 3_000 });
    await until('the wait sleeps', () => clock.pending === 2);
    clock.advance(3_000);
    expect(await answer).toBe(0);
  });

  it('resolves with the state reached when the process stops, also for later waits', async () => {
    const { waits, answer, options } = openWait();
    waits.drain();
    expect(await answer).toBe(0);
    const later = { signal: new AbortController().signal, deadline: Number.POSITIVE_INFINITY };
    expect(await waits.wait(options, later)).toBe(0);
  });

  it('resolves when the process stops right after a read', async () => {
    const { waits, options } = openWait();
    const isFinal = () => {
      queueMicrotask(() => waits.drain());
      return false;
    };
    const call = { signal: new AbortController().signal, deadline: Number.POSITIVE_INFINITY };
    expect(await waits.wait({ ...options, isFinal }, call)).toBe(0);
  });

  it('rejects with CANCELLED when the caller leaves', async () => {
    const leaving = new AbortController();
    const { state, answer, waits } = openWait({ signal: leaving.signal });
    await until('1 reads', () => state.reads === 1);
    leaving.abort();
    await expect(answer).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(waits.count).toBe(0);
  });

  it('refuses the call after 2,000 waiting ones with a time to retry', async () => {
    const { waits, options } = openWait();
    const call = { signal: new AbortController().signal, deadline: Number.POSITIVE_INFINITY };
    const others = Array.from({ length: 1_999 }, () => waits.wait(options, call));
    await expect(waits.wait(options, call)).rejects.toMatchObject({
      code: 'DEPENDENCY_UNAVAILABLE',
      retryAfterSeconds: expect.any(Number),
    });
    waits.drain();
    await Promise.all(others);
  });
});

describe.each(TRANSPORTS)('GetTurn with wait_ms, %s', (transport) => {
  let system: Awaited<ReturnType<typeof openSystem>>;
  beforeAll(async () => {
    system = await openSystem(transport);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const message = (text: string) => ({
    type: 'agent.message',
    dataJson: `{"message_id":"msg_${text}","content":${content(text)},"model":"m","finish_reason":"stop"}`,
  });

  async function startTurn() {
    const sessionId = await createConversation(system, 'Hello');
    const turn = await claimTurn(system);
    const waiting = system.edge.getTurn(
      { sessionId, turnId: turn.turnId, waitMs: 60_000 },
      { caller: OWNER, timeoutMs: 65_000 },
    );
    return { sessionId, turn, waiting };
  }

  it('returns the turn with its last message when the turn ends, and counts as no follower', async () => {
    const { sessionId, turn, waiting } = await startTurn();
    const started = { type: 'model.request_started', dataJson: '{"model":"m"}' };
    const [result] = await sendReports(
      system,
      reportFor(turn, 1, { events: [started, message('first'), started] }),
    );
    expect(result).toMatchObject({ errorCode: '', followed: false });
    const outputJson = '{"total":3}';
    const outcome = { kind: { $case: 'completed' as const, value: { stopReason: 'end_turn', outputJson } } };
    await sendReports(system, reportFor(turn, 2, { events: [message('last')], outcome }));
    const answer = await waiting;
    expect(answer.turn).toMatchObject({ status: 'completed', outputJson });
    expect(JSON.parse(answer.lastMessage!.json).data.message_id).toBe('msg_last');
    // The messages of later turns do not count.
    await sendText(system, sessionId, 'And?');
    const later = await claimTurn(system);
    await sendReports(system, reportFor(later, 1, { events: [message('later')], outcome: COMPLETED }));
    const again = { sessionId, turnId: turn.turnId, waitMs: 0 };
    const read = await system.edge.getTurn(again, { caller: OWNER });
    expect(JSON.parse(read.lastMessage!.json).data.message_id).toBe('msg_last');
  });

  it('returns a turn that blocks', async () => {
    const { turn, waiting } = await startTurn();
    const use = {
      type: 'agent.tool_use',
      dataJson: '{"tool_use_id":"c","name":"bash","input":{},"evaluated_permission":"ask"}',
    };
    const asks = [{ kind: 'tool', toolUseId: 'c', toolName: 'bash', inputJson: '{}' }];
    const outcome = { kind: { $case: 'blocked' as const, value: { asks } } };
    await sendReports(system, reportFor(turn, 1, { events: [use], outcome }));
    expect((await waiting).turn?.status).toBe('blocked');
  });

  it('returns the state reached when the time is over, and refuses other times', async () => {
    const sessionId = await createConversation(system, 'Hello');
    const { turnId } = await claimTurn(system);
    const get = (waitMs: number) => system.edge.getTurn({ sessionId, turnId, waitMs }, { caller: OWNER });
    expect(await get(20)).toMatchObject({ turn: { status: 'in_progress' }, lastMessage: undefined });
    await expect(get(60_001)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await expect(get(-1)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });

  it('leaves the turn running when the caller disconnects', async () => {
    const leaving = new AbortController();
    const sessionId = await createConversation(system, 'Hello');
    const turn = await claimTurn(system);
    const waiting = system.edge.getTurn(
      { sessionId, turnId: turn.turnId, waitMs: 60_000 },
      { caller: OWNER, timeoutMs: 65_000, signal: leaving.signal },
    );
    leaving.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'CANCELLED' });
    const [result] = await sendReports(system, reportFor(turn, 1, { outcome: COMPLETED }));
    expect(result?.errorCode).toBe('');
  });

  it('answers with the state reached when the service stops', async () => {
    await using stopping = await openSystem(transport);
    const sessionId = await createConversation(stopping, 'Hello');
    const { turnId } = await claimTurn(stopping);
    const request = { sessionId, turnId, waitMs: 60_000 };
    const waiting = stopping.edge.getTurn(request, { caller: OWNER, timeoutMs: 65_000 });
    await stopping.drain();
    expect((await waiting).turn?.status).toBe('in_progress');
  });
});
