import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TurnReport } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import {
  ADMINISTRATOR,
  COMPLETED,
  claimTurn,
  createConversation,
  journalOf,
  OWNER,
  openSystem,
  sendText,
} from './system.ts';
import { agentMessage, createReporter, newEvent } from './turn-events.ts';

const caller = OWNER;
const ESTIMATE = {
  ...{ model: 'rehearsal/script', system: 10, tools: 20, history: 300, files: 40, ratio: 2 },
  ...{ window: 8_000, windowSource: 'agent', threshold: 5_000 },
};

describe('a compaction on demand', () => {
  let system: Awaited<ReturnType<typeof openSystem>>;
  beforeAll(async () => {
    system = await openSystem('in process');
  });
  afterAll(() => system[Symbol.asyncDispose]());

  async function answer(text: string, more: Partial<TurnReport> = {}) {
    const turn = await claimTurn(system);
    const events = [...agentMessage('msg_1', text), ...(more.events ?? [])];
    await createReporter(system, turn)({ ...more, events, outcome: COMPLETED });
    return turn;
  }
  /** A session of as many turns as are kept by default, and one more. */
  async function conversation(): Promise<string> {
    const sessionId = await createConversation(system, 'one');
    await answer('done');
    for (const text of ['two', 'three', 'four']) {
      await sendText(system, sessionId, text);
      await answer('done');
    }
    return sessionId;
  }
  const compact = (sessionId: string) =>
    system.edge.compactSession({ sessionId, idempotencyKey: '' }, { caller });

  it('is a turn that a runner claims with the end of the range, and that earlier runners end at once', async () => {
    const sessionId = await conversation();
    const { turnId = '', seq } = await compact(sessionId);
    const turn = await claimTurn(system);
    expect(turn).toMatchObject({ turnId, compactsUpToSeq: seq, overridesJson: '{"max_steps":0}' });
    await createReporter(system, turn)({ outcome: COMPLETED });
    const { turn: ended } = await system.edge.getTurn({ sessionId, turnId }, { caller });
    expect(ended).toMatchObject({ status: 'completed', kind: 'compaction', overridesJson: undefined });
  });

  it('is not steered: the message is the next turn', async () => {
    const sessionId = await conversation();
    await compact(sessionId);
    const turn = await claimTurn(system);
    const { turnId } = await sendText(system, sessionId, 'meanwhile', 'steer');
    const queued = (await journalOf(system, sessionId)).findLast(({ type }) => type === 'turn.queued');
    expect(JSON.parse(queued?.json ?? '').data).toEqual({ turn_id: turnId });
    await createReporter(system, turn)({ outcome: COMPLETED });
    expect(await answer('done')).toMatchObject({ turnId, compactsUpToSeq: undefined });
  });

  it('is not queued when only the newest turns are left, nor in a session with fewer turns', async () => {
    const sessionId = await conversation();
    const { seq } = await compact(sessionId);
    const history = await journalOf(system, sessionId);
    const [, second] = history.filter(({ type }) => type === 'user.message');
    const data = { from_seq: 2, to_seq: (second?.seq ?? 0) - 1, strategy: 'summarize', summary: 'It began.' };
    const event = newEvent('agent.context_compacted', {
      ...{ ...data, kept: [], tokens_before: 10, tokens_after: 5 },
    });
    await createReporter(system, await claimTurn(system))({ events: [event], outcome: COMPLETED });
    expect(await compact(sessionId)).toEqual({ turnId: undefined, seq: 0, replayed: false });
    expect(seq).toBeGreaterThan(data.to_seq);
    const short = await createConversation(system, 'one');
    await answer('done');
    expect((await compact(short)).turnId).toBeUndefined();
  });

  it('of a fork is queued, because the turns of its history belong to another session', async () => {
    const sessionId = await conversation();
    const { session } = await system.edge.getSession({ sessionId }, { caller });
    const request = { sessionId, afterSeq: session?.lastSeq ?? 0, idempotencyKey: '' };
    const { session: fork } = await system.edge.forkSession(request, { caller });
    expect((await compact(fork?.sessionId ?? '')).turnId).toMatch(/^trn_/);
    await createReporter(system, await claimTurn(system))({ outcome: COMPLETED });
  });

  it('is refused to other users who can read the session', async () => {
    const sessionId = await conversation();
    const compacting = system.edge.compactSession(
      { sessionId, idempotencyKey: '' },
      { caller: ADMINISTRATOR },
    );
    await expect(compacting).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });
});

describe('GetSessionContext', () => {
  let system: Awaited<ReturnType<typeof openSystem>>;
  beforeAll(async () => {
    system = await openSystem('in process');
  });
  afterAll(() => system[Symbol.asyncDispose]());

  it('adds the events since the newest estimate to it, for every reader of the session', async () => {
    const sessionId = await createConversation(system, 'one');
    const turn = await claimTurn(system);
    const report = createReporter(system, turn);
    await report({
      events: [newEvent('model.request_started', { model: 'm' })],
      context: { ...ESTIMATE, events: 1 },
    });
    await report({ events: agentMessage('msg_1', 'x'.repeat(350)), outcome: COMPLETED });
    const contextOf = (reader: typeof OWNER) =>
      system.edge.getSessionContext({ sessionId }, { caller: reader });
    const added = 4 + 100;
    const parts = {
      ...{ systemTokens: undefined, toolsTokens: undefined },
      ...{ historyTokens: 2 * (300 + added), filesTokens: 80 },
    };
    expect(await contextOf(caller)).toMatchObject({ ...parts, strategy: 'summarize', keepTurns: 3 });
    expect(await contextOf(ADMINISTRATOR)).toEqual(await contextOf(caller));
  });

  it('has the declared window, and no parts of a request, before the first one', async () => {
    const sessionId = await createConversation(system);
    expect(await system.edge.getSessionContext({ sessionId }, { caller })).toMatchObject({
      ...{ window: 10_000, windowSource: 'model', thresholdTokens: undefined, systemTokens: undefined },
      ...{ historyTokens: 0, filesTokens: 0, lastCompaction: undefined },
    });
  });
});
