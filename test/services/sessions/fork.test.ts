import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { brokenInvariants } from '../../support/invariants.ts';
import {
  AGENT,
  COMPLETED,
  claimTurn,
  createConversation,
  journalOf,
  OWNER,
  openSystem,
  STRANGER,
  sendText,
  typesOf,
} from './system.ts';
import { agentMessage, createReporter, toolCallStep, toolDispatched, toolResult } from './turn-events.ts';

const caller = OWNER;

describe.each(TRANSPORTS)('ForkSession over %s', (transport) => {
  const clock = createFakeClock();
  let system: Awaited<ReturnType<typeof openSystem>>;
  beforeAll(async () => {
    system = await openSystem(transport, { clock });
  });
  afterEach(async () => expect(await brokenInvariants(system.database.url)).toEqual([]));
  afterAll(() => system[Symbol.asyncDispose]());

  const fork = async (sessionId: string, afterSeq: number, idempotencyKey = '') =>
    (await system.edge.forkSession({ sessionId, afterSeq, idempotencyKey }, { caller })).session;
  const seqOf = async (sessionId: string, type: string) =>
    (await journalOf(system, sessionId)).findLast((event) => event.type === type)?.seq ?? 0;

  /** Creates a session with a finished turn that used a tool and a second one that did not. */
  async function sessionWithTwoTurns() {
    const sessionId = await createConversation(system, 'count\u2028 these');
    const turn = await claimTurn(system);
    const report = createReporter(system, turn);
    await report({ events: toolCallStep('msg_1', { id: 'call_1', input: { z: 1, a: '\u0000' } }) });
    await report({ events: [toolDispatched('call_1', 1, turn.fence)] });
    await report({ events: [toolResult('call_1', { big: 12345678901 })] });
    await report({ events: agentMessage('msg_2', 'one'), outcome: COMPLETED });
    clock.advance(60_000);
    await sendText(system, sessionId, 'and more');
    await createReporter(
      system,
      await claimTurn(system),
    )({ events: agentMessage('msg_3', 'two'), outcome: COMPLETED });
    return sessionId;
  }

  it('creates a session with a copy of the history, and the two sessions continue separately', async () => {
    const sessionId = await sessionWithTwoTurns();
    const before = await journalOf(system, sessionId);
    clock.advance(60_000);
    const forked = await fork(sessionId, before.length);
    expect(forked).toMatchObject({ agentId: AGENT, agentVersion: 3, status: 'idle', title: 'count these' });
    const copy = await journalOf(system, forked?.sessionId ?? '');
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
    expect(forked?.lastSeq).toBe(copy.length);
    // All fields of an event are copied except ids, seq and trace.
    const parts = (json: string) => {
      const { event_id, session_id, seq, traceparent, ...rest } = JSON.parse(json);
      return { ...rest, text: json.slice(json.indexOf('"data":')) };
    };
    const history = before.filter(({ type }) => copy.slice(2).some((one) => one.type === type));
    expect(copy.slice(2).map(({ json }) => parts(json))).toEqual(history.map(({ json }) => parts(json)));
    await sendText(system, forked?.sessionId ?? '', 'go on');
    const turn = await claimTurn(system);
    expect(turn.sessionId).toBe(forked?.sessionId);
    expect(turn.messages).toHaveLength(7);
    await createReporter(system, turn)({ events: agentMessage('msg_4', 'three'), outcome: COMPLETED });
    expect(await journalOf(system, sessionId)).toEqual(before);
    expect(await fork(sessionId, before.length)).toEqual(
      await system.edge
        .listSessions(
          { agentId: '', deploymentId: '', states: [], status: '', q: '', page: { limit: 1, cursor: '' } },
          { caller },
        )
        .then(({ sessions }) => sessions[0]),
    );
  });

  it('starts at the last event after which every tool call has a result', async () => {
    const sessionId = await sessionWithTwoTurns();
    const journal = await journalOf(system, sessionId);
    const seq = (type: string) => journal.find((event) => event.type === type)?.seq ?? 0;
    const forkedAt = async (afterSeq: number) => {
      const events = await journalOf(system, (await fork(sessionId, afterSeq))?.sessionId ?? '');
      return [JSON.parse(events[1]?.json ?? '').data.from_seq, events.length - 2];
    };
    expect(await forkedAt(0)).toEqual([0, 0]);
    expect(await forkedAt(seq('user.message'))).toEqual([2, 1]);
    expect(await forkedAt(seq('agent.message'))).toEqual([2, 1]);
    expect(await forkedAt(seq('agent.tool_result') - 1)).toEqual([2, 1]);
    expect(await forkedAt(seq('agent.tool_result'))).toEqual([seq('agent.tool_result'), 3]);
  });

  it('copies the results of the calls of an interrupted turn', async () => {
    const sessionId = await createConversation(system, 'count');
    await createReporter(
      system,
      await claimTurn(system),
    )({ events: toolCallStep('msg_1', { id: 'call_1' }) });
    await system.edge.interruptSession({ sessionId }, { caller });
    const forked = await fork(sessionId, await seqOf(sessionId, 'turn.interrupted'));
    expect(typesOf(await journalOf(system, forked?.sessionId ?? ''))).toContain('agent.tool_result');
  });

  it('keeps its history when the original session is deleted', async () => {
    const sessionId = await sessionWithTwoTurns();
    const forked = await fork(sessionId, await seqOf(sessionId, 'session.status_idle'));
    const before = await journalOf(system, forked?.sessionId ?? '');
    await system.edge.deleteSession({ sessionId }, { caller });
    expect(await journalOf(system, forked?.sessionId ?? '')).toEqual(before);
  });

  it('creates one fork for an idempotency key', async () => {
    const sessionId = await sessionWithTwoTurns();
    const firstFork = await fork(sessionId, 2, 'fork-1');
    expect(await fork(sessionId, 2, 'fork-1')).toEqual(firstFork);
    await expect(fork(sessionId, 3, 'fork-1')).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_CONFLICT' });
  });

  it('copies a long history in several journal rows', async () => {
    const sessionId = await createConversation(system, 'a'.repeat(200_000));
    for (let i = 0; i < 5; i++) {
      const text = String(i).repeat(150_000);
      await createReporter(
        system,
        await claimTurn(system),
      )({ events: agentMessage(`msg_${i}`, text), outcome: COMPLETED });
      await sendText(system, sessionId, 'more');
    }
    const forked = await fork(sessionId, await seqOf(sessionId, 'user.message'));
    expect(typesOf(await journalOf(system, forked?.sessionId ?? '')).slice(2)).toHaveLength(11);
    await system.edge.deleteSession({ sessionId }, { caller });
  });

  it('copies messages that are larger than a page', async () => {
    const sessionId = await createConversation(system, 'a'.repeat(5 * 1024 * 1024));
    await sendText(system, sessionId, 'b'.repeat(5 * 1024 * 1024));
    await sendText(system, sessionId, 'short');
    const forked = await fork(sessionId, await seqOf(sessionId, 'user.message'));
    expect((await journalOf(system, forked?.sessionId ?? '')).slice(2)).toHaveLength(3);
    const listed: string[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const page = { limit: 50, cursor };
      const answer = await system.edge.listMessages({ sessionId, page }, { caller });
      listed.push(...answer.events.map(({ type }) => type));
      cursor = answer.page?.nextCursor || undefined;
    }
    expect(listed).toHaveLength(3);
    await system.edge.deleteSession({ sessionId }, { caller });
  });

  it('refuses a seq after the newest event, and other users', async () => {
    const sessionId = await sessionWithTwoTurns();
    await expect(fork(sessionId, 10_000)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await expect(
      system.edge.forkSession({ sessionId, afterSeq: 1, idempotencyKey: '' }, { caller: STRANGER }),
    ).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  });
});
