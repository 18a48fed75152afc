import { describe, expect, it } from 'vitest';
import {
  COMPLETED,
  claimTurn,
  createConversation,
  OWNER,
  openSystem,
  type SessionsSystem,
  sendText,
} from './system.ts';
import { agentMessage, createReporter, newEvent } from './turn-events.ts';

const compacted = (data: object) =>
  newEvent('agent.context_compacted', {
    ...{ from_seq: 1, strategy: 'summarize', summary: 'It began.', kept: [] },
    ...{ tokens_before: 10, tokens_after: 5, ...data },
  });

/** Runs the next turn, with these events before its answer. */
async function answer(system: SessionsSystem, text: string, ...events: ReturnType<typeof newEvent>[]) {
  const turn = await claimTurn(system);
  const report = createReporter(system, turn);
  if (events.length > 0) await report({ events });
  await report({ events: agentMessage('msg_1', text), outcome: COMPLETED });
  return turn;
}

async function modelHistory(system: SessionsSystem, sessionId: string, limit = 100) {
  const found: { seq: number; type: string }[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const { events, page } = await system.runner.listMessages({ sessionId, page: { limit, cursor } });
    found.push(...events.map(({ seq, type }) => ({ seq, type })));
    cursor = page?.nextCursor || undefined;
  }
  return found;
}

describe('the history of a session after a compaction', () => {
  it('begins for a runner with the compaction, the kept events and those behind its range', async () => {
    await using system = await openSystem('in process');
    const sessionId = await createConversation(system, 'one');
    await answer(system, 'first');
    const whole = await modelHistory(system, sessionId);
    const [message, reply] = whole;
    await sendText(system, sessionId, 'two');
    await answer(system, 'second', compacted({ to_seq: reply?.seq, kept: [message?.seq] }));
    await sendText(system, sessionId, 'three');
    for (const limit of [1, 100]) {
      const history = await modelHistory(system, sessionId, limit);
      expect(history.map(({ type }) => type)).toEqual([
        'agent.context_compacted',
        'user.message',
        ...['user.message', 'agent.message', 'user.message'],
      ]);
      expect(history[1]?.seq).toBe(message?.seq);
      expect(history.map(({ seq }) => seq)).not.toContain(reply?.seq);
    }
    const { messages, messagesIncomplete } = await claimTurn(system);
    expect(messagesIncomplete).toBe(false);
    expect(messages).toEqual((await system.runner.listMessages({ sessionId, page: undefined })).events);
  });

  it('is not part of a claim when it is long', async () => {
    await using system = await openSystem('in process');
    const sessionId = await createConversation(system, 'one');
    await answer(system, 'first', compacted({ to_seq: 1 }));
    await sendText(system, sessionId, 'word '.repeat(60_000));
    expect(await claimTurn(system)).toMatchObject({ messages: [], messagesIncomplete: true });
  });

  it('has the newest compaction that leaves events out, and the later ones', async () => {
    await using system = await openSystem('in process');
    const sessionId = await createConversation(system, 'one');
    await answer(system, 'first');
    for (const strategy of ['summarize', 'drop_tool_results', 'drop_turns', 'drop_tool_results']) {
      await sendText(system, sessionId, 'more');
      await answer(system, 'done', compacted({ to_seq: 1, strategy }));
    }
    const { events } = await system.runner.listMessages({ sessionId, page: undefined });
    const compactions = events.filter(({ type }) => type === 'agent.context_compacted');
    expect(compactions.map(({ json }) => JSON.parse(json).data.strategy)).toEqual([
      'drop_turns',
      'drop_tool_results',
    ]);
  });

  it('has the newest compaction that leaves events out behind many that move results', async () => {
    await using system = await openSystem('in process');
    const sessionId = await createConversation(system, 'one');
    await answer(system, 'first', compacted({ to_seq: 1 }));
    for (let turn = 0; turn < 18; turn++) {
      await sendText(system, sessionId, 'more');
      await answer(system, 'done', compacted({ to_seq: 1, strategy: 'drop_tool_results' }));
    }
    const { events } = await system.runner.listMessages({ sessionId, page: undefined });
    const strategies = events
      .filter(({ type }) => type === 'agent.context_compacted')
      .map(({ json }) => JSON.parse(json).data.strategy);
    expect(strategies).toEqual(['summarize', ...Array(18).fill('drop_tool_results')]);
  });

  it('is whole for the owner and in a fork', async () => {
    await using system = await openSystem('in process');
    const sessionId = await createConversation(system, 'one');
    await answer(system, 'first');
    await sendText(system, sessionId, 'two');
    await answer(system, 'second', compacted({ to_seq: 5 }));
    const caller = { caller: OWNER };
    const { session: found } = await system.edge.getSession({ sessionId }, caller);
    const request = { sessionId, afterSeq: found?.lastSeq ?? 0, idempotencyKey: '' };
    const { session: fork } = await system.edge.forkSession(request, caller);
    const whole = ['user.message', 'agent.message', 'user.message', 'agent.message'];
    for (const id of [sessionId, fork?.sessionId ?? '']) {
      const { events } = await system.edge.listMessages({ sessionId: id, page: undefined }, caller);
      expect(events.map(({ type }) => type)).toEqual(whole);
    }
    expect((await modelHistory(system, fork?.sessionId ?? '')).map(({ type }) => type)).toEqual(whole);
  });

  it('has the replaced messages again when the answer that was compacted for is replaced', async () => {
    await using system = await openSystem('in process');
    const sessionId = await createConversation(system, 'one');
    await answer(system, 'first');
    await sendText(system, sessionId, 'two');
    const { turnId } = await answer(system, 'second', compacted({ to_seq: 5 }));
    await system.edge.regenerateAnswer({ sessionId, turnId, idempotencyKey: '' }, { caller: OWNER });
    const history = await modelHistory(system, sessionId);
    expect(history.map(({ type }) => type)).toEqual(['user.message', 'agent.message', 'user.message']);
  });
});
