import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type System, startSystem } from '../../../support/system.ts';
import { until } from '../../../support/wait.ts';
import { createOpenaiClient, eventsOf, type OpenaiClient } from './client.ts';

const ASKS = [{ name: 'calculator', permission: 'ask' }];
const CALL = { tool: 'calculator', input: { expression: '6 * 7' } };
const user = (content: unknown) => ({ role: 'user', content });
const assistant = (content: string) => ({ role: 'assistant', content });

describe('the OpenAI-compatible chat completions', () => {
  let system: System;
  let client: OpenaiClient;
  beforeAll(async () => {
    system = await startSystem();
    client = createOpenaiClient(system);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const complete = (body: object, headers?: Record<string, string>) =>
    client.post('/chat/completions', body, headers);
  const script = (...steps: object[]) => ({ model: 'rehearsal/script', model_options: { steps } });
  const sessionOf = async (id: string) => (await client.api.get(`/sessions/${id}`)).body.data;
  const messagesOf = (id: string) => client.api.list<Message>(`/sessions/${id}/messages`);
  const textsOf = async (id: string) =>
    (await messagesOf(id)).map(({ content }) => content.map(({ text }) => text).join(''));

  it('lists agents as models, by a unique name or by their id', async () => {
    const twins = [
      await client.api.createAgent({ name: 'Twin' }),
      await client.api.createAgent({ name: 'twin' }),
    ];
    const single = await client.api.createAgent({ name: 'Support (EU)!' });
    const hidden = await client.api.createAgent({ name: 'Hidden', exposure: { openai: 'off' } });
    const { body } = await client.get('/models');
    expect(body.object).toBe('list');
    const ids = body.data.map(({ id }: { id: string }) => id);
    expect(ids).toEqual(expect.arrayContaining([...twins, 'support-eu']));
    expect(ids).not.toContain(hidden);
    for (const id of [single, 'support-eu'])
      expect((await client.get(`/models/${id}`)).body).toMatchObject({
        id,
        object: 'model',
        agent_id: single,
      });
    for (const id of ['twin', hidden, 'agt_1', 'nothing'])
      expect(await client.get(`/models/${id}`)).toMatchObject({
        status: 404,
        body: { error: { code: 'model_not_found', param: 'model', type: 'invalid_request_error' } },
      });
  });

  it('continues the session that has the past, and forks it where the past was edited', async () => {
    const model = await client.api.createAgent();
    const first = await complete({ model, messages: [user('one')] });
    expect(first.body).toMatchObject({
      object: 'chat.completion',
      model,
      choices: [{ message: { role: 'assistant' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: expect.any(Number), total_tokens: expect.any(Number) },
    });
    const answer = first.body.choices[0].message.content;
    const past = [user('one'), assistant(answer)];
    const second = await complete({ model, messages: [...past, user('two')] });
    expect(second.body.session_id).toBe(first.body.session_id);
    expect((await messagesOf(second.body.session_id)).filter(({ role }) => role === 'user')).toHaveLength(2);

    const edited = await complete({ model, messages: [...past, user('deux')] });
    expect(edited.body.session_id).not.toBe(first.body.session_id);
    const texts = await textsOf(edited.body.session_id);
    expect(texts).toContain('one');
    expect(texts).toContain('deux');
    expect(texts).not.toContain('two');
  });

  it('begins a session with a transcript for an unknown past, and takes metadata.session_id instead', async () => {
    const model = await client.api.createAgent();
    const messages = [user('one'), assistant('elsewhere'), user('two')];
    const unknown = (await complete({ model, messages })).body.session_id;
    expect((await textsOf(unknown))[0]).toContain('Assistant: elsewhere');
    const named = await complete({ model, messages, metadata: { session_id: unknown } });
    expect(named.body.session_id).toBe(unknown);
    expect(await textsOf(unknown)).toContain('two');
    const other = await client.api.createAgent();
    expect(await complete({ model: other, messages, metadata: { session_id: unknown } })).toMatchObject({
      status: 404,
      body: { error: { code: 'SESSION_NOT_FOUND' } },
    });
  });

  it('streams the answer, with the usage on request', async () => {
    const model = await client.api.createAgent(script({ text: 'It is forty-two.', chunk_chars: 4 }));
    const body = { model, messages: [user('?')], stream: true, stream_options: { include_usage: true } };
    const response = await client.send('POST', '/chat/completions', body);
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const events = await eventsOf(response);
    expect(events.at(-1)).toBe('[DONE]');
    const chunks = events.slice(0, -1).map((event) => JSON.parse(event));
    const deltas = chunks.flatMap(({ choices }) =>
      choices.map((choice: Choice) => choice.delta.content ?? ''),
    );
    expect(deltas.join('')).toBe('It is forty-two.');
    expect(chunks.at(-2).choices[0].finish_reason).toBe('stop');
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: expect.any(Number) } });
  });

  it('answers with a schema by the last message alone', async () => {
    const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
    const model = await client.api.createAgent({
      ...script({ text: '{"n":"x"}' }, { answer_again: true }, { text: '{"n":3}' }),
      overridable: ['output_schema'],
    });
    const response_format = { type: 'json_schema', json_schema: { name: 'n', schema } };
    const { body } = await complete({ model, messages: [user('?')], response_format });
    expect(body.choices[0].message.content).toBe('{"n":3}');
    const closed = await client.api.createAgent();
    expect(await complete({ model: closed, messages: [user('?')], response_format })).toMatchObject({
      status: 403,
      body: { error: { code: 'OVERRIDE_NOT_ALLOWED' } },
    });
  });

  it('follows instructions if the agent allows it, and names what it ignores', async () => {
    const messages = [{ role: 'system', content: 'Be brief.' }, user('one')];
    const closed = await client.api.createAgent();
    const ignored = await complete({ model: closed, messages, temperature: 0 });
    expect(ignored.headers.get('x-ignored-parameters')).toBe('temperature, messages');
    const open = await client.api.createAgent({ overridable: ['system'] });
    const used = await complete({ model: open, messages });
    expect(used.headers.get('x-ignored-parameters')).toBeNull();
    const turns = await client.api.list<{ overrides: unknown }>(`/sessions/${used.body.session_id}/turns`);
    expect(turns[0]?.overrides).toEqual({ system: { mode: 'append', text: 'Be brief.' } });
  });

  it('says what a turn waits for, and where a person answers', async () => {
    const model = await client.api.createAgent({ ...script(CALL, { text: 'It is 42.' }), tools: ASKS });
    const { body } = await complete({ model, messages: [user('?')] });
    const { content } = body.choices[0].message;
    expect(content).toContain('permission to call the tool calculator');
    expect(content).toContain(`${system.url}/sessions/${body.session_id}`);
  });

  it('reports the failure of a turn as an error that clients do not repeat', async () => {
    const model = await client.api.createAgent(script({ error: { kind: 'invalid_request' } }));
    const failed = await complete({ model, messages: [user('?')] });
    expect(failed.body.error).toMatchObject({
      type: 'server_error',
      message: expect.stringContaining('failed'),
    });
    expect(failed.headers.get('x-should-retry')).toBe('false');
    const stream = await client.send('POST', '/chat/completions', {
      model,
      messages: [user('?')],
      stream: true,
    });
    const events = await eventsOf(stream);
    expect(JSON.parse(events.at(-2) ?? '')).toMatchObject({ error: { type: 'server_error' } });
  });

  it('interrupts the turn of a client that disconnects', async () => {
    const story = { text: 'a long story '.repeat(4_000), chunk_chars: 4, delay_ms: 15 };
    const model = await client.api.createAgent(script(story));
    const controller = new AbortController();
    const { signal } = controller;
    const body = { model, messages: [user('tell')], stream: true };
    const response = await client.send('POST', '/chat/completions', body, { signal });
    const reader = response.body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    const [, data = ''] = new TextDecoder().decode(value).split('data: ');
    const { session_id: session } = JSON.parse(data.split('\n')[0] ?? '');
    controller.abort();
    await until('the turn is interrupted', async () => {
      const { stop_reason: reason } = (await sessionOf(session)) as { stop_reason?: { type: string } };
      return reason?.type === 'interrupted';
    });
  });

  it('a repeated request with the same Idempotency-Key is the same turn, also in a fork', async () => {
    const model = await client.api.createAgent();
    const { body } = await complete({ model, messages: [user('one')] });
    const past = [user('one'), assistant(body.choices[0].message.content)];
    const twice = async (messages: object[], key: string) => {
      const headers = { 'Idempotency-Key': key };
      const answers = [
        await complete({ model, messages }, headers),
        await complete({ model, messages }, headers),
      ];
      expect(answers[1]?.body).toEqual({ ...answers[0]?.body, created: expect.any(Number) });
      return answers[0]?.body;
    };
    await twice([user('begin')], 'new');
    const continued = await twice([...past, user('two')], 'continue');
    expect(continued.session_id).toBe(body.session_id);
    const forked = await twice([...past, user('deux')], 'fork');
    expect(forked.session_id).not.toBe(body.session_id);
  });

  it.each<[string, unknown, string | null]>([
    ['an unknown parameter', { telepathy: true }, 'telepathy'],
    [
      'a remote image',
      { messages: [user([{ type: 'image_url', image_url: { url: 'https://a.test/b' } }])] },
      'messages[0].content[0].image_url.url',
    ],
    ['tools', { tools: [{ type: 'function' }] }, 'tools'],
    ['no JSON', 'no json', null],
  ])('refuses %s with 400 in the shape of OpenAI', async (_, body, param) => {
    const model = await client.api.createAgent();
    const request = typeof body === 'string' ? body : { model, messages: [user('one')], ...(body as object) };
    const { status, body: answer } = await client.post('/chat/completions', request);
    expect(status).toBe(400);
    expect(answer).toEqual({
      error: {
        type: 'invalid_request_error',
        code: 'INVALID_REQUEST',
        param,
        message: expect.any(String),
        request_id: expect.stringMatching(/^req_/),
      },
    });
  });

  it('writes the protocol as the source of a session', async () => {
    const model = await client.api.createAgent();
    const { body } = await complete({ model, messages: [user('one')] });
    const [created] = await client.api.list<object>(`/sessions/${body.session_id}/events?limit=1`);
    expect(created).toMatchObject({ data: { source: 'openai' }, actor: { type: 'openai' } });
  });
});

interface Message {
  role: string;
  content: { text: string }[];
}

interface Choice {
  delta: { content?: string };
}
