import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../../../support/api.ts';
import { type System, startSystem } from '../../../support/system.ts';
import { until } from '../../../support/wait.ts';
import { call, callRefused, connectMcp } from './client.ts';

interface TurnResult {
  session_id: string;
  turn_id: string;
  status: string;
  text: string;
  approvals: { approval_id: string; kind: string; tool_name: string; input: unknown }[];
  questions: { tool_use_id: string; kind: string; input: unknown }[];
  files: { path: string; uri: string }[];
  console_url: string;
}

const APPROVED = {
  model: 'rehearsal/script',
  model_options: {
    steps: [{ tool: 'calculator', input: { expression: '6 * 7' } }, { text: 'It is 42.' }],
  },
  tools: [{ name: 'calculator', permission: 'ask' }],
};

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

describe('the tools of /mcp for conversations', () => {
  let system: System;
  let api: Api;
  let client: Awaited<ReturnType<typeof connectMcp>>;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
    client = await connectMcp(`${system.url}/mcp`);
  });
  afterAll(async () => {
    await client.close();
    await system[Symbol.asyncDispose]();
  });

  const toolOf = async (agent: string) => {
    const { tools } = await client.listTools();
    const name = tools.find((one) => one.name.endsWith(`_${agent.slice(-4).toLowerCase()}`))?.name;
    if (name === undefined) throw new Error(`no tool of ${agent}`);
    return name;
  };

  it('begins a conversation with the tool of an agent and continues it', async () => {
    const agent = await api.createAgent({ name: 'Echo Éxample', description: 'Repeats what you say.' });
    const name = await toolOf(agent);
    expect(name).toMatch(/^ask_echo__xample_[0-9a-z]{4}$/);
    const first = await call<TurnResult>(client, name, { message: 'Hello' });
    expect(first).toMatchObject({ status: 'completed', approvals: [], questions: [], files: [] });
    expect(first.text).toContain('Hello');
    expect(first.console_url).toBe(`${system.url}/sessions/${first.session_id}`);
    const second = await call<TurnResult>(client, name, { message: 'Again', session_id: first.session_id });
    expect(second.session_id).toBe(first.session_id);
    expect(second.turn_id).not.toBe(first.turn_id);
    const { body } = await api.get(`/sessions/${first.session_id}/events?types=session.created`);
    expect(body.data).toMatchObject([{ actor: { type: 'mcp' }, data: { source: 'mcp' } }]);
    expect(await call(client, 'get_session', { session_id: first.session_id })).toMatchObject({
      session: { session_id: first.session_id, agent_id: agent, state: 'completed' },
    });
    const { messages } = await call<{ messages: object[] }>(client, 'list_messages', {
      session_id: first.session_id,
    });
    expect(messages).toHaveLength(4);
    const { sessions } = await call<{ sessions: object[] }>(client, 'list_sessions', { agent_id: agent });
    expect(sessions).toMatchObject([{ session_id: first.session_id }]);
    const { events } = await call<{ events: object[] }>(client, 'list_events', {
      session_id: first.session_id,
      types: 'user.message',
    });
    expect(events).toMatchObject([{ type: 'user.message' }, { type: 'user.message' }]);
  });

  it('gives the running turn a message with steer, and returns the answer of that turn', async () => {
    const agent = await api.createAgent(STEERABLE);
    const begun = { agent_id: agent, message: 'the first', wait_seconds: 0 };
    const { session_id, turn_id } = await call<TurnResult>(client, 'create_conversation', begun);
    await until('the model writes', async () => {
      const path = `/sessions/${session_id}/events?types=agent.message_delta`;
      return (await api.list<object>(path)).length > 0;
    });
    const steered = { session_id, message: 'the second', busy_policy: 'steer', wait_seconds: 50 };
    expect(await call<TurnResult>(client, 'send_message', steered)).toMatchObject({
      status: 'completed',
      text: 'answer to the second',
    });
    const delivered = await api.list(`/sessions/${session_id}/events?types=user.message_delivered`);
    expect(delivered).toMatchObject([{ data: { turn_id, step: 2 } }]);
  });

  it('makes one turn of calls with the same idempotency key', async () => {
    const agent = await api.createAgent();
    const args = { agent_id: agent, message: 'Once', idempotency_key: 'key-1' };
    const first = await call<TurnResult>(client, 'create_conversation', args);
    const repeated = await call<TurnResult>(client, 'create_conversation', args);
    expect(repeated).toMatchObject({ session_id: first.session_id, turn_id: first.turn_id });
    const message = { session_id: first.session_id, message: 'More', idempotency_key: 'key-2' };
    const sent = await call<TurnResult>(client, 'send_message', message);
    expect(await call(client, 'send_message', message)).toMatchObject({ turn_id: sent.turn_id });
    const { body } = await api.get(`/sessions/${first.session_id}/turns`);
    expect(body.data).toHaveLength(2);
  });

  it('begins a conversation without a message, which reads a file that was written before', async () => {
    const agent = await api.createAgent();
    const begun = await call<TurnResult>(client, 'create_conversation', { agent_id: agent });
    expect(begun).toMatchObject({ turn_id: null, status: null, text: '' });
    const session_id = begun.session_id;
    const written = await call(client, 'write_file', { session_id, path: 'a/ä.txt', content: 'Grüße' });
    expect(written).toMatchObject({ file: { path: 'a/ä.txt', kind: 'file', size: 7 } });
    const { files } = await call<{ files: object[] }>(client, 'list_files', { session_id, recursive: true });
    expect(files).toMatchObject([{ path: 'a' }, { path: 'a/ä.txt' }]);
    const read = { session_id, path: 'a/ä.txt' };
    expect(await call(client, 'read_file', read)).toMatchObject({ text: 'Grüße', base64: null, size: 7 });
    expect(await call(client, 'read_file', { ...read, offset: 2, length: 1 })).toMatchObject({
      text: null,
      base64: 'ww==',
    });
  });

  it('returns a blocked turn with its approvals, and its answer after the decision', async () => {
    const agent = await api.createAgent(APPROVED);
    const blocked = await call<TurnResult>(client, await toolOf(agent), { message: 'go' });
    expect(blocked).toMatchObject({
      status: 'blocked',
      approvals: [{ kind: 'tool', tool_name: 'calculator', input: { expression: '6 * 7' } }],
    });
    const { session_id, turn_id } = blocked;
    const listed = await call(client, 'list_approvals', { session_id, status: 'pending' });
    const [approval] = blocked.approvals;
    expect(listed).toMatchObject({ approvals: [{ approval_id: approval?.approval_id, status: 'pending' }] });
    const answer = { session_id, approval_id: approval?.approval_id, decision: 'allow' };
    expect(await call(client, 'answer_approval', answer)).toMatchObject({
      approval: { status: 'decided', decision: 'allow' },
    });
    const ended = await call<TurnResult>(client, 'wait_for_turn', { session_id, turn_id });
    expect(ended).toMatchObject({ status: 'completed', text: 'It is 42.' });
  });

  it('does not wait longer than asked, and reports the state of an interrupted turn', async () => {
    const agent = await api.createAgent(APPROVED);
    const started = await call<TurnResult>(client, 'create_conversation', {
      agent_id: agent,
      message: 'go',
      wait_seconds: 0,
    });
    const { session_id, turn_id } = started;
    await until('the turn is blocked', async () => {
      const state = await call<TurnResult>(client, 'wait_for_turn', { session_id, turn_id, wait_seconds: 1 });
      return state.status === 'blocked';
    });
    await call(client, 'interrupt', { session_id });
    expect(await call(client, 'wait_for_turn', { session_id, turn_id })).toMatchObject({
      status: 'interrupted',
    });
  });

  it('names the state error of a disabled agent, and finds no agent that is not exposed', async () => {
    const agent = await api.createAgent({ name: 'Switched' });
    const name = await toolOf(agent);
    const { session_id } = await call<TurnResult>(client, name, { message: 'hi' });
    await api.send('PATCH', `/agents/${agent}`, { enabled: false });
    expect(await callRefused(client, name, { message: 'hi' })).toMatchObject({ code: 'AGENT_NOT_RUNNABLE' });
    await api.send('PATCH', `/agents/${agent}`, { enabled: true, exposure: { mcp: 'off' } });
    await expect(client.callTool({ name, arguments: { message: 'hi' } })).rejects.toMatchObject({
      code: -32602,
    });
    for (const [tool, args] of [
      ['get_agent', { agent_id: agent }],
      ['create_conversation', { agent_id: agent, message: 'hi' }],
    ] as const)
      expect(await callRefused(client, tool, args)).toMatchObject({ code: 'AGENT_NOT_FOUND' });
    expect(await callRefused(client, 'send_message', { session_id, message: 'hi' })).toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
  });

  it('offers one agent at its own endpoint', async () => {
    const [agent, other] = [await api.createAgent({ name: 'One' }), await api.createAgent({ name: 'Other' })];
    await using one = await connectMcp(`${system.url}/api/v1/mcp/agents/${agent}`);
    const { tools } = await one.listTools();
    const asking = tools.filter(({ name }) => name.startsWith('ask_'));
    expect(asking.map(({ title }) => title)).toEqual(['One']);
    expect(await call(one, asking[0]?.name ?? '', { message: 'hi' })).toMatchObject({ status: 'completed' });
    const { session_id } = await call<TurnResult>(client, await toolOf(other), { message: 'hi' });
    expect(await callRefused(one, 'get_session', { session_id })).toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
    expect(await callRefused(one, 'get_agent', { agent_id: other })).toMatchObject({
      code: 'AGENT_NOT_FOUND',
    });
  });
});
