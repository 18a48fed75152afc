import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { type System, startSystem } from '../support/system.ts';

interface JournalEvent {
  seq: number;
  type: string;
  turn_id?: string;
  data: Record<string, unknown>;
}

interface Context {
  parts: Record<'system' | 'tools' | 'history' | 'files', number>;
  estimated_tokens: number;
  threshold_tokens: number;
  last_compaction: object | null;
}

/** Longer than its summary. */
const LONG = 'one '.repeat(400);

describe('the context of a session', () => {
  let system: System;
  let api: Api;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const summarizing = {
    system: 'You are an archivist.',
    model: 'rehearsal/script',
    model_options: { steps: [{ text: 'The code word is heron.' }] },
    // It repeats the conversation, cut to the length of a summary.
    context: { keep_turns: 1, window: 20_000, model: 'rehearsal/echo' },
  };

  async function conversation(members: object, messages: readonly string[] = []): Promise<string> {
    const agent = await api.createAgent(members);
    const { body } = await api.post(`/agents/${agent}/conversations`, {});
    const session = String(body.data.session_id);
    for (const content of messages) await send(session, content);
    return session;
  }
  const send = async (session: string, content: string) => {
    const { body } = await api.post(`/sessions/${session}/messages`, { content, wait_seconds: 50 });
    expect(body.data.turn).toMatchObject({ status: 'completed' });
    return body.data.turn as { turn_id: string };
  };
  const compact = (session: string, headers?: Record<string, string>) =>
    api.send('POST', `/sessions/${session}/compact`, undefined, headers);
  const contextOf = (session: string) => api.read<Context>(`/sessions/${session}/context`);
  const ended = async (session: string, turn: unknown) =>
    (await api.get(`/sessions/${session}/turns/${turn}?wait_seconds=50`)).body.data;
  const eventsOf = (session: string, types: string) =>
    api.list<JournalEvent>(`/sessions/${session}/events?types=${types}&limit=100`);

  it('is compacted by a turn of its own, without a message, and once', async () => {
    const session = await conversation(summarizing, [LONG, 'two']);
    const before = await contextOf(session);
    const accepted = await compact(session);
    expect(accepted).toMatchObject({ status: 202, body: { data: { turn_id: expect.any(String) } } });
    const turn = accepted.body.data.turn_id;
    expect(await ended(session, turn)).toMatchObject({
      ...{ kind: 'compaction', status: 'completed', last_message: null, error: null },
      usage: { steps: 0, input_tokens: expect.any(Number) },
    });
    const [event, ...others] = await eventsOf(session, 'agent.context_compacted');
    expect(others).toEqual([]);
    expect(event).toMatchObject({ turn_id: turn, data: { strategy: 'summarize', kept: [] } });
    const after = await contextOf(session);
    expect(after.parts.history).toBeLessThan(0.7 * before.parts.history);
    expect(after.last_compaction).toMatchObject({ seq: event?.seq, turn_id: turn, strategy: 'summarize' });
    // The summary is a message with an envelope.
    expect(after.estimated_tokens - Number(event?.data.tokens_after)).toBe(4);

    const again = await compact(session);
    expect(again).toMatchObject({ status: 200, body: { data: { turn_id: null, seq: null } } });
    expect(await eventsOf(session, 'user.message')).toHaveLength(2);
    expect((await api.list(`/sessions/${session}/messages`)).length).toBe(4);
  });

  it('is followed by turns that get the summary and the newest turn', async () => {
    const session = await conversation(summarizing, [LONG, 'two']);
    const { body } = await compact(session);
    await ended(session, body.data.turn_id);
    const { turn_id: next } = await send(session, 'three');
    expect(await ended(session, next)).toMatchObject({ kind: 'answer', last_message: expect.anything() });
    const turns = await api.list<{ kind: string }>(`/sessions/${session}/turns`);
    expect(turns.map(({ kind }) => kind)).toEqual(['answer', 'answer', 'compaction', 'answer']);
  });

  it('is not compacted while a turn runs, without older turns, or with the strategy none', async () => {
    const slow = {
      model: 'rehearsal/script',
      model_options: { steps: [{ text: 'a b c d', delay_ms: 500 }] },
    };
    const busy = await conversation({ ...slow, context: { keep_turns: 1 } });
    await api.post(`/sessions/${busy}/messages`, { content: 'go' });
    expect(await compact(busy)).toMatchObject({ status: 409, body: { code: 'SESSION_BUSY' } });
    await api.post(`/sessions/${busy}/interrupt`);

    const short = await conversation({ model: 'rehearsal/echo' }, ['one']);
    expect(await compact(short)).toMatchObject({ status: 200, body: { data: { turn_id: null } } });
    expect(await eventsOf(short, 'turn.queued')).toHaveLength(1);

    const none = await conversation({ context: { strategy: 'none', keep_turns: 1 } }, [LONG, 'two']);
    expect(await compact(none)).toMatchObject({ status: 409, body: { code: 'COMPACTION_DISABLED' } });
  });

  it('is compacted once for an Idempotency-Key, also when there was nothing to do', async () => {
    const key = { 'Idempotency-Key': 'compact-1' };
    const session = await conversation(summarizing, [LONG, 'two']);
    const first = await compact(session, key);
    await ended(session, first.body.data.turn_id);
    const repeated = await compact(session, key);
    expect(repeated).toMatchObject({ status: 202, body: { data: first.body.data } });
    const nothing = { 'Idempotency-Key': 'compact-2' };
    expect(await compact(session, nothing)).toMatchObject({ status: 200 });
    await send(session, 'three');
    await send(session, 'four');
    expect(await compact(session, nothing)).toMatchObject({ status: 200, body: { data: { turn_id: null } } });
    expect((await compact(session)).status).toBe(202);
  });

  it('lets the last answer be regenerated as if it had not been compacted', async () => {
    const session = await conversation(summarizing, [LONG, 'two']);
    const { body } = await compact(session);
    await ended(session, body.data.turn_id);
    const [, last] = await api.list<{ turn_id: string }>(`/sessions/${session}/turns`);
    const refused = await api.post(`/sessions/${session}/turns/${body.data.turn_id}/regenerate`);
    expect(refused).toMatchObject({ status: 409, body: { code: 'TURN_NOT_LAST' } });
    const regenerated = await api.post(`/sessions/${session}/turns/${last?.turn_id}/regenerate`);
    expect(regenerated.status).toBe(202);
    await ended(session, regenerated.body.data.turn_id);
    expect((await contextOf(session)).last_compaction).toBeNull();
    const chat = await api.list<{ role: string }>(`/sessions/${session}/ai-messages`);
    expect(chat.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
  });

  it('is unchanged when the summary fails, and the turn fails with the reason', async () => {
    // It answers only with the steps of an agent.
    const context = { ...summarizing.context, model: 'rehearsal/script' };
    const session = await conversation({ ...summarizing, context }, [LONG, 'two']);
    const { body } = await compact(session);
    expect(await ended(session, body.data.turn_id)).toMatchObject({
      status: 'failed',
      error: { code: 'model_bad_request' },
    });
    expect(await eventsOf(session, 'agent.context_compacted')).toEqual([]);
  });

  it('shows the window, the threshold and the parts of the next request', async () => {
    const session = await conversation(summarizing);
    const settings = { strategy: 'summarize', threshold: 0.8, keep_turns: 1, model: 'rehearsal/script' };
    expect(await contextOf(session)).toEqual({
      ...settings,
      ...{ window: 20_000, window_source: 'agent', threshold_tokens: null, estimated_tokens: null },
      parts: { system: null, tools: null, history: 0, files: 0 },
      last_compaction: null,
    });
    await send(session, 'x'.repeat(350));
    const context = await contextOf(session);
    const { system: instructions, tools, history, files } = context.parts;
    expect(context).toMatchObject({ ...settings, window: 20_000, window_source: 'agent' });
    expect([instructions, files]).toEqual([6, 0]);
    expect(tools).toBeGreaterThan(100);
    expect(history).toBe(100 + 4 + Math.ceil('The code word is heron.'.length / 3.5) + 4);
    expect(context.estimated_tokens).toBe(instructions + tools + history + files);
    expect(context.threshold_tokens).toBeGreaterThan(1_000);
    expect(context.threshold_tokens).toBeLessThan(16_000);
  });

  it('has unknown parts again after a change of the agent version', async () => {
    const agent = await api.createAgent(summarizing);
    const { body } = await api.post(`/agents/${agent}/conversations`, {});
    const session = String(body.data.session_id);
    await send(session, 'one');
    const changed = { model: 'rehearsal/echo', model_options: {}, context: {} };
    await api.send('PATCH', `/agents/${agent}`, changed);
    await api.post(`/sessions/${session}/agent-version`, { version: 2 });
    expect(await contextOf(session)).toMatchObject({
      ...{ model: 'rehearsal/echo', window: null, window_source: null, threshold_tokens: null },
      ...{ estimated_tokens: null, parts: { system: null, tools: null, history: expect.any(Number) } },
    });
  });
});
