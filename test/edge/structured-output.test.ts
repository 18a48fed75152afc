import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { type System, startSystem } from '../support/system.ts';

const SCHEMA = { type: 'object', properties: { total: { type: 'integer' } }, required: ['total'] };
const AGAIN = { answer_again: true };
const OVERRIDABLE = ['model', 'system', 'tools', 'model_options', 'max_steps', 'budget', 'output_schema'];
const script = (...steps: object[]) => ({ model: 'rehearsal/script', model_options: { steps } });
const textOf = (message: { content: { text: string }[] }) => message.content.map(({ text }) => text).join('');

let system: System;
let api: Api;
beforeAll(async () => {
  system = await startSystem();
  api = createApi(system.url);
});
afterAll(() => system[Symbol.asyncDispose]());

const begin = (agentId: string, body: object, headers?: Record<string, string>) =>
  api.post(`/agents/${agentId}/conversations`, { message: 'Count.', wait_seconds: 60, ...body }, headers);

describe('output_schema', () => {
  it('of an agent gives the parsed output in the turn, its last message and the journal', async () => {
    const agent = await api.createAgent({
      ...script({ text: '{"total": "x"}' }, AGAIN, { text: '{"total": 3}' }),
      output_schema: SCHEMA,
    });
    const { status, body } = await begin(agent, {});
    expect(status).toBe(201);
    const { session_id: session, turn } = body.data as unknown as { session_id: string; turn: Turn };
    expect(turn).toMatchObject({ status: 'completed', output: { total: 3 }, error: null });
    expect(turn.last_message).toMatchObject({ role: 'agent', output: { total: 3 } });
    const events = (await api.get(`/sessions/${session}/events?types=agent.message`)).body.data;
    expect(events).toMatchObject([
      {
        data: {
          output_error: { code: 'invalid', problems: [{ pointer: '/total', message: 'must be an integer' }] },
        },
      },
      { data: { output: { total: 3 } } },
    ]);
    const listed = (await api.get(`/sessions/${session}/turns`)).body.data;
    expect(listed).toMatchObject([{ output: { total: 3 } }]);
  });

  it('fails the turn with output_invalid after a second invalid answer', async () => {
    const agent = await api.createAgent({ ...script({ text: 'Three.' }), output_schema: SCHEMA });
    const { body } = await begin(agent, {});
    expect(body.data).toMatchObject({
      turn: { status: 'failed', output: null, error: { code: 'output_invalid' } },
    });
  });

  it.each([
    [{ type: 'text' }, '/output_schema/type'],
    [{ $ref: 'https://example.com/schema' }, '/output_schema/$ref'],
    [{ title: 'x'.repeat(64 * 1024) }, '/output_schema'],
    [Array.from({ length: 33 }).reduce<object>((inner) => ({ not: inner }), {}), /^\/output_schema(\/not)+$/],
    ['text', '/output_schema'],
  ])('that is invalid is refused with its pointer', async (output_schema, pointer) => {
    const refused = await api.post('/agents', { name: 'Bad', model: 'rehearsal/echo', output_schema });
    expect(refused.status).toBe(400);
    const [detail] = detailsOf(refused.body);
    expect(detail?.pointer).toEqual(typeof pointer === 'string' ? pointer : expect.stringMatching(pointer));
  });
});

describe('overrides', () => {
  it('of a conversation and of a message are recorded and in force', async () => {
    const agent = await api.createAgent({ overridable: OVERRIDABLE });
    const steps = { ...script({ text: '{"total": 1}' }), output_schema: SCHEMA };
    const { body } = await begin(agent, steps);
    const { session_id: session, turn } = body.data as unknown as { session_id: string; turn: Turn };
    expect(turn).toMatchObject({ output: { total: 1 }, overrides: steps });
    const sent = await api.post(`/sessions/${session}/messages`, {
      content: 'again',
      model: 'rehearsal/echo',
      output_schema: true,
      wait_seconds: 60,
    });
    expect(sent.status).toBe(202);
    // The text of the echo is no JSON.
    expect(sent.body.data).toMatchObject({ turn: { error: { code: 'output_invalid' } } });
    const queued = (await api.get(`/sessions/${session}/events?types=turn.queued`)).body.data;
    expect(queued).toMatchObject([
      { data: { overrides: steps } },
      { data: { overrides: { ...steps, model: 'rehearsal/echo', output_schema: true } } },
    ]);
  });

  const values: Record<string, unknown> = {
    model: 'rehearsal/echo',
    system: { mode: 'replace', text: 'New.' },
    tools: [{ name: 'bash', permission: 'deny' }],
    client_tools: [{ name: 'ask', description: 'Asks.', input_schema: { type: 'object' } }],
    model_options: { seed: 1 },
    max_steps: 3,
    budget: { max_tokens: 10 },
    output_schema: true,
  };
  it.each(Object.keys(values))('of %s need its name in overridable', async (name) => {
    const allowing = await api.createAgent({ overridable: [name] });
    const strict = await api.createAgent({ overridable: Object.keys(values).filter((one) => one !== name) });
    const override = { [name]: values[name], message: '1' };
    expect((await begin(allowing, override)).body.data).toMatchObject({
      turn: { status: 'completed', overrides: { [name]: values[name] } },
    });
    const refused = await begin(strict, override);
    expect([refused.status, refused.body.error?.code]).toEqual([403, 'OVERRIDE_NOT_ALLOWED']);
    expect(detailsOf(refused.body)).toMatchObject([{ pointer: `/${name}` }]);
  });

  it.each([
    [{ tools: [{ name: 'bash', permission: 'allow' }] }, '/tools/0/permission'],
    [{ budget: { max_tokens: 51 } }, '/budget/max_tokens'],
    [{ max_steps: 1_001 }, '/max_steps'],
    [{ system: { mode: 'append' } }, '/system/text'],
    [{ output_schema: { type: 'text' } }, '/output_schema/type'],
  ])('that widen the settings or are invalid are refused: %j', async (override, pointer) => {
    const agent = await api.createAgent({
      overridable: OVERRIDABLE,
      tools: [{ name: 'bash', permission: 'ask' }],
      budget: { max_tokens: 50 },
    });
    const refused = await begin(agent, override);
    expect([refused.status, refused.body.error?.code]).toEqual([400, 'INVALID_REQUEST']);
    expect(detailsOf(refused.body)).toMatchObject([{ pointer }]);
  });

  it('of an assistant are checked like those of an agent', async () => {
    const request = { name: 'Helper', model: 'rehearsal/echo', overridable: ['max_steps'] };
    const { assistant_id: id } = (await api.post('/assistants', request)).body.data as unknown as {
      assistant_id: string;
    };
    const path = `/assistants/${id}/conversations`;
    const begun = await api.post(path, { message: 'Hi', max_steps: 2, wait_seconds: 60 });
    expect(begun.body.data).toMatchObject({ turn: { status: 'completed', overrides: { max_steps: 2 } } });
    expect((await api.post(path, { message: 'Hi', model: 'rehearsal/shell' })).status).toBe(403);
  });
});

describe('wait_seconds', () => {
  const slow = script({ text: 'never', delay_ms: 3_600_000 });

  it('returns the turn with its last message when it ends, also for an idempotent replay', async () => {
    const agent = await api.createAgent();
    const key = { 'Idempotency-Key': 'wait-1' };
    const first = await begin(agent, { message: 'Hello' }, key);
    const { session_id: session, turn } = first.body.data as unknown as { session_id: string; turn: Turn };
    expect(turn).toMatchObject({ status: 'completed', output: null });
    expect(textOf(turn.last_message!)).toBe('Hello');
    const replay = await begin(agent, { message: 'Hello' }, key);
    expect(replay.headers.get('idempotent-replayed')).toBe('true');
    expect(replay.body.data).toMatchObject({ session_id: session, turn: { turn_id: turn.turn_id } });
    const { body: current, headers } = await api.get(`/sessions/${session}`);
    for (const answer of [first, replay]) {
      expect(answer.body.data).toEqual({
        ...current.data,
        turn: answer.body.data.turn,
      });
      expect(answer.headers.get('etag')).toBe(headers.get('etag'));
    }
    expect(current.data).toMatchObject({
      status: 'idle',
      state: 'completed',
      stop_reason: { type: 'end_turn' },
    });
    const body = { content: 'And?', wait_seconds: 60 };
    const sent = await api.post(`/sessions/${session}/messages`, body, { 'Idempotency-Key': 'wait-2' });
    const again = await api.post(`/sessions/${session}/messages`, body, { 'Idempotency-Key': 'wait-2' });
    expect(again.body.data).toEqual(sent.body.data);
    expect((sent.body.data as unknown as { turn: Turn }).turn.status).toBe('completed');
  });

  it('returns a turn that waits for an approval', async () => {
    const agent = await api.createAgent({
      ...script({ tool: 'bash', input: { command: 'ls' } }),
      tools: [{ name: 'bash', permission: 'ask' }],
    });
    expect((await begin(agent, {})).body.data).toMatchObject({
      state: 'needs_approval',
      needs_action: true,
      turn: { status: 'blocked' },
    });
  });

  it('returns the state reached when the time is over, and no turn without the member', async () => {
    const agent = await api.createAgent(slow);
    const { body } = await begin(agent, { wait_seconds: 1 });
    expect(body.data).toMatchObject({ turn: { output: null, last_message: null } });
    const { turn, session_id: session } = body.data as unknown as { turn: Turn; session_id: string };
    expect(turn.status).toMatch(/^(queued|in_progress)$/);
    const path = `/sessions/${session}/turns/${turn.turn_id}`;
    expect((await api.get(`${path}?wait_seconds=0`)).body.data).toMatchObject({ turn_id: turn.turn_id });
    for (const wrong of ['-1', '61', '1.5', 'x', ''])
      expect((await api.get(`${path}?wait_seconds=${wrong}`)).status).toBe(400);
    const plain = await api.post(`/sessions/${session}/messages`, { content: 'more' });
    expect(plain.body.data).not.toHaveProperty('turn');
    const empty = await api.post(`/agents/${agent}/conversations`, { wait_seconds: 60 });
    expect(empty.body.data).toMatchObject({ status: 'idle', turn: null });
    await api.post(`/sessions/${session}/interrupt`);
  });

  it('ends with the connection, and the turn goes on', async () => {
    const agent = await api.createAgent(script({ text: 'late', delay_ms: 500 }));
    const { session_id: session } = (await begin(agent, { wait_seconds: undefined })).body
      .data as unknown as {
      session_id: string;
    };
    const { data } = (await api.get(`/sessions/${session}/turns`)).body;
    const path = `/sessions/${session}/turns/${(data[0] as { turn_id: string }).turn_id}?wait_seconds=60`;
    const leaving = new AbortController();
    const left = fetch(`${system.url}/api/v1${path}`, { signal: leaving.signal });
    leaving.abort();
    await expect(left).rejects.toThrow();
    expect((await api.get(path)).body.data).toMatchObject({ status: 'completed' });
  });
});

interface Turn {
  turn_id: string;
  status: string;
  output: unknown;
  last_message: { content: { text: string }[] } | null;
}

function detailsOf(body: { error?: object }): { pointer: string }[] {
  return (body.error as { details: { pointer: string }[] }).details;
}
