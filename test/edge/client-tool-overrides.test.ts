import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { type System, startSystem } from '../support/system.ts';

const LOCATE = {
  name: 'locate',
  description: 'Returns the position of the device.',
  input_schema: { type: 'object', properties: { precise: { type: 'boolean' } }, required: ['precise'] },
};
const SPEAK = { name: 'speak', description: 'Reads a text aloud.', input_schema: { type: 'object' } };
const call = (input: object = { precise: true }, tool = 'locate') => ({ tool, input });
const END = { text: 'The result: {{last_tool_output}}' };

interface Turn {
  turn_id: string;
  status: string;
  last_message: { content: { text?: string }[] } | null;
}

describe('client_tools of a conversation and of a message', () => {
  let system: System;
  let api: Api;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const agentThatCalls = (steps: object[], members: object = {}) =>
    api.createAgent({
      ...{ model: 'rehearsal/script', model_options: { steps: [...steps, END] } },
      overridable: ['client_tools'],
      ...members,
    });
  const begin = async (agent: string, members: object) => {
    const body = { message: 'Go.', wait_seconds: 60, ...members };
    const { data } = (await api.post(`/agents/${agent}/conversations`, body)).body;
    return data as unknown as { session_id: string; turn: Turn };
  };
  const send = async (session: string, members: object = {}) => {
    const body = { content: 'Again.', wait_seconds: 60, ...members };
    return (await api.post(`/sessions/${session}/messages`, body)).body.data as unknown as { turn: Turn };
  };
  const submit = (session: string, id: string, output: unknown) =>
    api.post(`/sessions/${session}/tool-results`, { tool_use_id: id, output });
  const ended = async (session: string, { turn_id: id }: Turn) =>
    (await api.get(`/sessions/${session}/turns/${id}?wait_seconds=60`)).body.data as unknown as Turn;
  const textOf = ({ last_message: message }: Turn) => message?.content.map(({ text }) => text).join('');
  const pendingIds = async (session: string) => {
    const { body } = await api.get(`/sessions/${session}/tool-calls?status=pending`);
    return (body.data as { tool_use_id: string }[]).map(({ tool_use_id: id }) => id);
  };

  it('let the model call a tool that the client runs', async () => {
    const agent = await agentThatCalls([call()]);
    const { session_id: session, turn } = await begin(agent, { client_tools: [LOCATE] });
    expect(turn.status).toBe('blocked');
    const { body } = await api.get(`/sessions/${session}/tool-calls?status=pending`);
    expect(body.data).toMatchObject([
      { name: 'locate', kind: 'tool_result', input: { precise: true }, tool_use_id: 'call_1_1' },
    ]);
    expect((await api.get(`/sessions/${session}`)).body.data.state).toBe('needs_input');
    expect((await submit(session, 'call_1_1', 'Berlin')).status).toBe(200);
    expect(textOf(await ended(session, turn))).toBe('The result: Berlin');
    const queued = (await api.get(`/sessions/${session}/events?types=turn.queued`)).body.data;
    expect(queued).toMatchObject([{ data: { overrides: { client_tools: [LOCATE] } } }]);
  });

  it('of a conversation hold for its later turns, until a message replaces them', async () => {
    const agent = await agentThatCalls([call()]);
    const { session_id: session, turn } = await begin(agent, { client_tools: [LOCATE] });
    await submit(session, 'call_1_1', 1);
    await ended(session, turn);
    const second = (await send(session)).turn;
    const [id = ''] = await pendingIds(session);
    await submit(session, id, 2);
    expect(textOf(await ended(session, second))).toBe('The result: 2');
    // The model calls a tool that it no longer has, which is an error for it.
    const third = (await send(session, { client_tools: [SPEAK] })).turn;
    expect(third.status).toBe('completed');
    expect(textOf(third)).toContain('locate');
    expect(await pendingIds(session)).toEqual([]);
  });

  it('of a message hold for its turn alone', async () => {
    const agent = await agentThatCalls([call()]);
    const { session_id: session } = await begin(agent, { message: undefined });
    const { turn } = await send(session, { client_tools: [LOCATE] });
    expect(turn.status).toBe('blocked');
    await submit(session, 'call_1_1', 1);
    await ended(session, turn);
    expect((await send(session)).turn.status).toBe('completed');
  });

  it('are added to the tools of the agent', async () => {
    const agent = await agentThatCalls(
      [call(), call({}, 'speak'), call({ expression: '6 * 7' }, 'calculator')],
      {
        tools: [
          { type: 'client', ...SPEAK },
          { name: 'calculator', permission: 'allow' },
        ],
      },
    );
    const { session_id: session, turn } = await begin(agent, { client_tools: [LOCATE] });
    expect(await pendingIds(session)).toEqual(expect.arrayContaining(['call_1_1', 'call_1_2']));
    for (const id of ['call_1_1', 'call_1_2']) await submit(session, id, id);
    const { status } = await ended(session, turn);
    expect(status).toBe('completed');
    const results = (await api.get(`/sessions/${session}/events?types=agent.tool_result`)).body.data;
    expect(results).toHaveLength(3);
    expect(results).not.toMatchObject(expect.arrayContaining([{ data: { is_error: true } }]));
  });

  it('make an input that does not match their schema an error for the model', async () => {
    const agent = await agentThatCalls([call({ precise: 'yes' })]);
    const { turn } = await begin(agent, { client_tools: [LOCATE] });
    expect(turn.status).toBe('completed');
    expect(textOf(turn)).toContain('precise');
  });

  it.each<[string, object[], string]>([
    ['the name of a built-in tool', [{ ...LOCATE, name: 'bash' }], '/client_tools/0/name'],
    ['a name that begins with mcp__', [LOCATE, { ...SPEAK, name: 'mcp__a__b' }], '/client_tools/1/name'],
    ['a repeated name', [LOCATE, LOCATE], '/client_tools/1/name'],
    ['a type', [{ ...LOCATE, type: 'client' }], '/client_tools/0/type'],
    [
      'a schema of a string',
      [{ ...LOCATE, input_schema: { type: 'string' } }],
      '/client_tools/0/input_schema/type',
    ],
  ])('with %s are refused with its pointer', async (_, tools, pointer) => {
    const agent = await agentThatCalls([]);
    const { session_id: session } = await begin(agent, { message: undefined });
    for (const [path, text] of [
      [`/agents/${agent}/conversations`, 'message'],
      [`/sessions/${session}/messages`, 'content'],
    ]) {
      const { status, body } = await api.post(path ?? '', { [text ?? '']: 'Go.', client_tools: tools });
      expect([status, body.code]).toEqual([400, 'INVALID_REQUEST']);
      const { details } = body.error as unknown as { details: { pointer: string }[] };
      expect(details.map((one) => one.pointer)).toEqual([pointer]);
    }
  });
});
