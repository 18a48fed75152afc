import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/wait.ts';

interface ChatMessage {
  role: string;
  parts: { type: string; text?: string }[];
}

interface JournalEvent {
  seq: number;
  turn_id: string;
  data: Record<string, unknown>;
}

/** Writes long enough to be steered, calls a tool and answers with the newest message of the user. */
const STEERABLE = {
  model: 'rehearsal/script',
  model_options: {
    steps: [
      { text: 'thinking about it '.repeat(4), chunk_chars: 2, delay_ms: 60 },
      { tool: 'calculator', input: { expression: '6*7' } },
      { text: 'answer to {{input}}' },
    ],
  },
  tools: [{ name: 'calculator', permission: 'allow' }],
};

describe('busy_policy steer', () => {
  let system: System;
  let api: Api;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const eventsOf = (session: string, types: string) =>
    api.list<JournalEvent>(`/sessions/${session}/events?types=${types}&limit=100`);

  /** A session whose turn is in its first step. */
  async function runningTurn(): Promise<{ session: string; turn: string }> {
    const agent = await api.createAgent(STEERABLE);
    const { body } = await api.post(`/agents/${agent}/conversations`, { message: 'the first' });
    const session = String(body.data.session_id);
    const [delta] = await until('the model writes', async () => {
      const deltas = await eventsOf(session, 'agent.message_delta');
      return deltas.length > 0 && deltas;
    });
    return { session, turn: String(delta?.turn_id) };
  }
  const steer = (session: string, content: string, more: object = {}) =>
    api.post(`/sessions/${session}/messages`, { content, busy_policy: 'steer', ...more });

  it('gives the running turn the message before its next step, and answers with that turn', async () => {
    const { session, turn } = await runningTurn();
    const { status, body } = await steer(session, 'the second', { wait_seconds: 50 });
    expect(status).toBe(202);
    expect(body.data.turn_id).not.toBe(turn);
    expect(body.data.turn).toMatchObject({
      turn_id: turn,
      status: 'completed',
      last_message: { content: [{ type: 'text', text: 'answer to the second' }] },
    });
    const steering = `/sessions/${session}/turns/${body.data.turn_id}`;
    expect((await api.get(steering)).body.data).toMatchObject({
      turn_id: body.data.turn_id,
      status: 'completed',
      attempt: 0,
      delivered_to_turn_id: turn,
      started_at: null,
      last_message: { content: [{ type: 'text', text: 'answer to the second' }] },
    });
    expect(await eventsOf(session, 'user.message_delivered')).toMatchObject([
      { turn_id: turn, data: { message_seq: body.data.seq, turn_id: turn, step: 2 } },
    ]);
    expect(await api.send('DELETE', steering)).toMatchObject({
      status: 409,
      body: { code: 'TURN_NOT_QUEUED' },
    });
  });

  it('shows the message in the chat before the answer of the turn, and in a fork, too', async () => {
    const { session } = await runningTurn();
    const { body } = await steer(session, 'the second', { wait_seconds: 50 });
    const chatOf = async (id: string) => {
      const messages = await api.list<ChatMessage>(`/sessions/${id}/ai-messages`);
      return messages.map(({ role, parts }) => `${role}: ${parts.findLast(({ text }) => text)?.text}`);
    };
    const chat = ['user: the first', 'user: the second', 'assistant: answer to the second'];
    expect(await chatOf(session)).toEqual(chat);
    const { data } = (await api.get(`/sessions/${session}`)).body;
    const forked = await api.post(`/sessions/${session}/fork`, { after_seq: data.last_seq });
    expect(await chatOf(String(forked.body.data.session_id))).toEqual(chat);
    expect(body.data.seq).toBeGreaterThan(0);
  });

  it('streams what the running turn writes after the delivery to AI SDK', async () => {
    const { session } = await runningTurn();
    const url = `${api.origin}/api/v1/sessions/${session}/ai-stream`;
    const ofRunning = await fetch(url);
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ content: 'the second', busy_policy: 'steer' }),
    });
    const [stream, whole] = await Promise.all([response.text(), ofRunning.text()]);
    expect(whole).toContain('thinking');
    expect(whole).toContain('answer to the second');
    expect(whole.trimEnd().endsWith('data: [DONE]')).toBe(true);
    expect(stream).toContain('answer to the second');
    expect(stream).not.toContain('thinking');
    expect(stream).toContain('"finishReason":"stop"');
    expect(stream.trimEnd().endsWith('data: [DONE]')).toBe(true);
  });

  it('queues the message in an idle session', async () => {
    const agent = await api.createAgent();
    const { body: begun } = await api.post(`/agents/${agent}/conversations`, {});
    const session = String(begun.data.session_id);
    const { body } = await steer(session, 'hello', { wait_seconds: 50 });
    expect(body.data.turn).toMatchObject({
      turn_id: body.data.turn_id,
      status: 'completed',
      delivered_to_turn_id: null,
      last_message: { content: [{ type: 'text', text: 'hello' }] },
    });
  });

  it('refuses overrides with 400', async () => {
    const agent = await api.createAgent({ overridable: ['max_steps'] });
    const { body: begun } = await api.post(`/agents/${agent}/conversations`, {});
    const refused = await steer(String(begun.data.session_id), 'hello', { max_steps: 1 });
    expect(refused).toMatchObject({
      status: 400,
      body: { code: 'INVALID_REQUEST', error: { details: [{ pointer: '/busy_policy' }] } },
    });
  });
});
