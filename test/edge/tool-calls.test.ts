import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/wait.ts';
import { base64, PNG, partsApi, sha256 } from './message-parts.ts';

const LOCATE = {
  type: 'client',
  name: 'get_location',
  description: 'Returns the position of the device.',
  input_schema: {
    type: 'object',
    properties: { precise: { type: 'boolean' } },
    required: ['precise'],
    additionalProperties: false,
  },
};
const call = (precise: unknown = true) => ({ tool: 'get_location', input: { precise } });
const END = { text: 'The result: {{last_tool_output}}' };
const FORM = {
  type: 'object',
  properties: {
    size: { type: 'string', enum: ['small', 'large'] },
    count: { type: 'integer', minimum: 1, maximum: 9 },
    gift: { type: 'boolean' },
  },
  required: ['size'],
};
const question = (schema: unknown = FORM) => ({
  tool: 'ask_user',
  input: { question: 'Which size?', schema },
});

describe('/sessions/{session_id}/tool-calls and /tool-results', () => {
  let system: System;
  let api: Api;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const eventsOf = async (session: string) => {
    const { body } = await api.get(`/sessions/${session}/events?limit=100`);
    return body.data as unknown as {
      event_id: string;
      type: string;
      actor: { type: string; id: string };
      data: Record<string, unknown>;
    }[];
  };
  const sessionOf = async (session: string) => (await api.get(`/sessions/${session}`)).body.data;
  const submit = (session: string, body: unknown) => api.post(`/sessions/${session}/tool-results`, body);
  const pending = async (session: string) =>
    (await api.get(`/sessions/${session}/tool-calls?status=pending`)).body.data as unknown as {
      tool_use_id: string;
    }[];
  const start = async (steps: unknown[], tools: unknown[] = [LOCATE]) => {
    const agent = await api.createAgent({ model: 'rehearsal/script', model_options: { steps }, tools });
    const { body } = await api.post(`/agents/${agent}/conversations`, { message: 'go' });
    return String(body.data.session_id);
  };
  const reaches = (session: string, state: string) =>
    until(`the session is ${state}`, async () => (await sessionOf(session)).state === state);
  /** Starts a session that waits for the client. */
  const blocked = async (steps: unknown[], tools?: unknown[]) => {
    const session = await start(steps, tools);
    await reaches(session, 'needs_input');
    return session;
  };
  const answerOf = async (session: string) => {
    await reaches(session, 'completed');
    const { body } = await api.get(`/sessions/${session}/messages`);
    const messages = body.data as unknown as { content: { text: string }[] }[];
    return messages
      .at(-1)
      ?.content.map(({ text }) => text)
      .join('');
  };

  it('a call of a client tool stops the turn until the client submits its result', async () => {
    const session = await blocked([call(), END]);
    const events = await eventsOf(session);
    const use = events.find(({ type }) => type === 'agent.tool_use');
    expect(use?.data).toEqual({
      tool_use_id: 'call_1_1',
      name: 'get_location',
      input: { precise: true },
      evaluated_permission: 'allow',
      kind: 'tool_result',
    });
    expect(events.find(({ type }) => type === 'turn.blocked')?.data).toMatchObject({ kind: 'tool_result' });
    expect(await sessionOf(session)).toMatchObject({
      status: 'idle',
      needs_action: true,
      stop_reason: { type: 'requires_action', kind: 'tool_result', blocking: [use?.event_id] },
    });
    expect((await api.get(`/sessions/${session}/approvals`)).body.data).toEqual([]);
    const { body } = await api.get(`/sessions/${session}/tool-calls?status=pending`);
    expect(body.data).toMatchObject([
      {
        tool_use_id: 'call_1_1',
        kind: 'tool_result',
        name: 'get_location',
        status: 'pending',
        input: { precise: true },
        output: null,
        error: null,
        answered_by: null,
        answered_at: null,
      },
    ]);
    const submitted = await submit(session, { tool_use_id: 'call_1_1', output: { latitude: 52.5 } });
    expect(submitted).toMatchObject({
      status: 200,
      body: { data: { status: 'answered', output: { latitude: 52.5 }, error: null } },
    });
    expect(await answerOf(session)).toBe('The result: {"latitude":52.5}');
    const result = (await eventsOf(session)).find(({ type }) => type === 'agent.tool_result');
    expect(result).toMatchObject({
      actor: { type: 'user', id: submitted.body.data.answered_by },
      data: { tool_use_id: 'call_1_1', output: { latitude: 52.5 }, is_error: false },
    });
  });

  it.each([
    ['null', null],
    ['a string', 'here'],
    ['a list', [1, 'two', { three: 3 }]],
    ['an object with special texts', { a: 'é \n " ,\n', b: '\u2028' }],
  ])('the model gets %s as it was submitted', async (_, output) => {
    const session = await blocked([call(), END]);
    expect((await submit(session, { tool_use_id: 'call_1_1', output })).status).toBe(200);
    const expected = typeof output === 'string' ? output : JSON.stringify(output);
    expect(await answerOf(session)).toBe(`The result: ${expected}`);
    const { body } = await api.get(`/sessions/${session}/tool-calls`);
    expect(body.data).toMatchObject([{ status: 'answered', output }]);
  });

  it('passes the error of a client to the model', async () => {
    const session = await blocked([call(), END]);
    const submitted = await submit(session, { tool_use_id: 'call_1_1', error: 'no signal' });
    expect(submitted.body.data).toMatchObject({ status: 'answered', error: 'no signal', output: null });
    expect(await answerOf(session)).toBe('The result: no signal');
  });

  it('returns 200 for the same result again, also after the turn, and 409 for another one', async () => {
    const session = await blocked([call(), END]);
    const result = { tool_use_id: 'call_1_1', output: { a: 1, b: 2 } };
    const first = await submit(session, result);
    await reaches(session, 'completed');
    const { last_seq: before } = await sessionOf(session);
    const again = await submit(session, { output: { b: 2, a: 1 }, tool_use_id: 'call_1_1' });
    expect([again.status, again.body.data]).toEqual([200, first.body.data]);
    for (const other of [{ output: { a: 1 } }, { error: 'x' }, { output: null }])
      expect((await submit(session, { tool_use_id: 'call_1_1', ...other })).body.code).toBe(
        'TOOL_RESULT_CONFLICT',
      );
    expect((await sessionOf(session)).last_seq).toBe(before);
  });

  it('accepts one of many results that are submitted at the same time', async () => {
    const session = await blocked([call(), END]);
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) => submit(session, { tool_use_id: 'call_1_1', output: index })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(11).fill(409)]);
    const codes = new Set(answers.map(({ body }) => body.code));
    expect(codes.has('TOOL_RESULT_CONFLICT')).toBe(true);
    const accepted = answers.findIndex(({ status }) => status === 200);
    expect(await answerOf(session)).toBe(`The result: ${accepted}`);
  });

  it('continues when all calls of a step are answered', async () => {
    const session = await blocked([call(), call(false), END]);
    expect((await pending(session)).map((one) => one.tool_use_id)).toEqual(['call_1_2', 'call_1_1']);
    await submit(session, { tool_use_id: 'call_1_2', output: 'two' });
    const open = await pending(session);
    expect(open.map((one) => one.tool_use_id)).toEqual(['call_1_1']);
    const uses = (await eventsOf(session)).filter(({ type }) => type === 'agent.tool_use');
    expect(await sessionOf(session)).toMatchObject({
      state: 'needs_input',
      stop_reason: { blocking: [uses[0]?.event_id] },
    });
    await submit(session, { tool_use_id: 'call_1_1', output: 'one' });
    expect(await answerOf(session)).toBe('The result: two');
  });

  it('runs ordinary tools of the step and opens approvals and client calls together', async () => {
    const steps = [
      { tool: 'current_time', input: {} },
      { tool: 'calculator', input: { expression: '1 + 1' } },
      call(),
      question(),
      END,
    ];
    const session = await blocked(steps, [LOCATE, { name: 'calculator', permission: 'ask' }]);
    const events = await eventsOf(session);
    expect(events.filter(({ type }) => type === 'agent.tool_result').map(({ data }) => data)).toMatchObject([
      { tool_use_id: 'call_1_1', is_error: false },
    ]);
    expect((await sessionOf(session)).stop_reason).toMatchObject({ kind: 'input' });
    expect(await pending(session)).toHaveLength(2);
    await submit(session, { tool_use_id: 'call_1_4', output: { size: 'small' } });
    expect((await sessionOf(session)).stop_reason).toMatchObject({ kind: 'tool_result' });
    await submit(session, { tool_use_id: 'call_1_3', output: 1 });
    expect(await sessionOf(session)).toMatchObject({
      state: 'needs_approval',
      stop_reason: { kind: 'tool_approval' },
    });
    const { body } = await api.get(`/sessions/${session}/approvals`);
    const [approval] = body.data as unknown as { approval_id: string; tool_name: string }[];
    expect(approval).toMatchObject({ tool_name: 'calculator' });
    await api.post(`/sessions/${session}/approvals/${approval?.approval_id}`, { decision: 'allow' });
    expect(await answerOf(session)).toBe('The result: {"size":"small"}');
  });

  it('gives the model an error for an input that does not match the schema, without asking the client', async () => {
    const session = await start([call('yes'), END]);
    expect(await answerOf(session)).toMatch(/The input was refused.*\/precise/);
    expect((await api.get(`/sessions/${session}/tool-calls`)).body.data).toEqual([]);
  });

  it('returns 409 TOOL_CALL_CLOSED after an interrupt', async () => {
    const session = await blocked([call(), END]);
    await api.post(`/sessions/${session}/interrupt`);
    const late = await submit(session, { tool_use_id: 'call_1_1', output: 1 });
    expect(late).toMatchObject({ status: 409, body: { code: 'TOOL_CALL_CLOSED' } });
    const { body } = await api.get(`/sessions/${session}/tool-calls`);
    expect(body.data).toMatchObject([{ status: 'cancelled', output: null, answered_at: null }]);
    expect(await sessionOf(session)).toMatchObject({ state: 'stopped', needs_action: false });
  });

  it('returns 404 for an unknown call, a call of another tool and an unknown session', async () => {
    const session = await blocked([{ tool: 'current_time', input: {} }, call(), END]);
    for (const id of ['call_9', 'call_1_1', 'x'.repeat(5_000)])
      expect((await submit(session, { tool_use_id: id, output: 1 })).body.code).toBe('TOOL_CALL_NOT_FOUND');
    const foreign = await submit(`ses_${'7Z'.repeat(13)}`, { tool_use_id: 'call_1_2', output: 1 });
    expect(foreign).toMatchObject({ status: 404, body: { code: 'SESSION_NOT_FOUND' } });
  });

  it('lists sessions that wait for a client as needs_input and not as needs_approval', async () => {
    const session = await blocked([call(), END]);
    const listed = async (state: string) => {
      const { body } = await api.get(`/sessions?state=${state}&limit=100`);
      return (body.data as unknown as { session_id: string }[]).some((one) => one.session_id === session);
    };
    expect([await listed('needs_input'), await listed('needs_approval')]).toEqual([true, false]);
    const both = await api.get('/sessions?needs_action=true&limit=100');
    expect(both.body.data).toContainEqual(expect.objectContaining({ session_id: session }));
  });

  describe('ask_user', () => {
    it('is offered by default, and an answer continues the turn', async () => {
      const session = await blocked([question(), END], []);
      const { body } = await api.get(`/sessions/${session}/tool-calls?status=pending`);
      expect(body.data).toMatchObject([
        { kind: 'input', name: 'ask_user', input: { question: 'Which size?', schema: FORM } },
      ]);
      const answer = { size: 'large', count: 2, gift: true };
      expect((await submit(session, { tool_use_id: 'call_1_1', output: answer })).status).toBe(200);
      expect(await answerOf(session)).toBe(`The result: ${JSON.stringify(answer)}`);
    });

    it('is offered to sessions of webhooks, and their owner answers', async () => {
      const steps = [question(), END];
      const agent = await api.createAgent({ model: 'rehearsal/script', model_options: { steps } });
      await api.trigger(await api.createWebhook(agent), 'an order');
      const session = await until('the session waits', async () => {
        const { body } = await api.get(`/sessions?agent_id=${agent}&state=needs_input`);
        return (body.data as unknown as { session_id: string }[])[0]?.session_id;
      });
      await submit(session, { tool_use_id: 'call_1_1', output: { size: 'small' } });
      expect(await answerOf(session)).toBe('The result: {"size":"small"}');
    });

    it('returns 400 with pointers for an answer that does not match, and leaves the question open', async () => {
      const session = await blocked([question(), END], []);
      const wrong: [unknown, string[]][] = [
        ['large', ['/output']],
        [[], ['/output']],
        [null, ['/output']],
        [{}, ['/output/size']],
        [{ size: 'huge' }, ['/output/size']],
        [{ size: 'small', count: 10 }, ['/output/count']],
        [{ size: 'small', count: 1.5, gift: 'yes' }, ['/output/count', '/output/gift']],
        [{ size: 'small', 'a/b': 1 }, ['/output/a~1b']],
      ];
      for (const [output, pointers] of wrong) {
        const { status, body } = await submit(session, { tool_use_id: 'call_1_1', output });
        expect([status, body.code], JSON.stringify(output)).toEqual([400, 'INVALID_REQUEST']);
        const { details } = body.error as unknown as { details: { pointer: string }[] };
        expect(details.map(({ pointer }) => pointer)).toEqual(pointers);
      }
      expect(await pending(session)).toHaveLength(1);
      expect((await submit(session, { tool_use_id: 'call_1_1', output: { size: 'small' } })).status).toBe(
        200,
      );
    });

    it('takes an error instead of an answer', async () => {
      const session = await blocked([question(), END], []);
      await submit(session, { tool_use_id: 'call_1_1', error: 'The user declined.' });
      expect(await answerOf(session)).toBe('The result: The user declined.');
    });

    it.each([
      ['no object', { type: 'string' }],
      ['a nested object', { type: 'object', properties: { a: { type: 'object', properties: {} } } }],
      ['a list', { type: 'object', properties: { a: { type: 'array', items: { type: 'string' } } } }],
      ['a reference', { type: 'object', properties: { a: { $ref: '#/properties/b' } } }],
      ['an unknown required field', { ...FORM, required: ['colour'] }],
      [
        'a default that does not match',
        { type: 'object', properties: { a: { type: 'integer', default: 'x' } } },
      ],
      ['a member of another type', { type: 'object', properties: { a: { type: 'boolean', enum: ['x'] } } }],
    ])('gives the model an error for a schema with %s', async (_, schema) => {
      const session = await start([question(schema), END], []);
      expect(await answerOf(session)).toMatch(/The input was refused/);
      expect((await api.get(`/sessions/${session}/tool-calls`)).body.data).toEqual([]);
    });

    it('asks for approval first with the permission ask, and uses the edited question', async () => {
      const session = await start([question(), END], [{ name: 'ask_user', permission: 'ask' }]);
      await reaches(session, 'needs_approval');
      expect(await pending(session)).toEqual([]);
      const { body } = await api.get(`/sessions/${session}/approvals`);
      const [approval] = body.data as unknown as { approval_id: string }[];
      const edited = {
        question: 'Gift?',
        schema: { type: 'object', properties: { gift: { type: 'boolean' } } },
      };
      await api.post(`/sessions/${session}/approvals/${approval?.approval_id}`, {
        decision: 'allow',
        edited_input: edited,
      });
      await reaches(session, 'needs_input');
      expect(await pending(session)).toMatchObject([{ input: edited }]);
      await submit(session, { tool_use_id: 'call_1_1', output: { gift: true } });
      expect(await answerOf(session)).toContain('{"gift":true}');
      const result = (await eventsOf(session)).findLast(({ type }) => type === 'agent.tool_result');
      expect(result?.data).toMatchObject({ output: { gift: true }, edited_input: edited });
    });

    it('is not offered with the permission deny', async () => {
      const session = await start([question(), END], [{ name: 'ask_user', permission: 'deny' }]);
      expect(await answerOf(session)).toMatch(/ask_user may not be used/);
    });
  });

  it('takes one image or file part for a list of one, and any other object for an output', async () => {
    const image = { type: 'image', media_type: 'image/png', name: 'map.png' };
    const session = await blocked([call(), END]);
    const wrong: [object, string, string][] = [
      [{ ...image, data: base64(PNG), mediaType: 'image/png' }, 'INVALID_REQUEST', '/output/mediaType'],
      [{ ...image, data: base64(PNG), path: 'a' }, 'INVALID_REQUEST', '/output'],
      [{ type: 'image', data: base64(PNG) }, 'INVALID_REQUEST', '/output/media_type'],
      [{ type: 'file', path: 'absent.txt' }, 'FILE_NOT_FOUND', '/output/path'],
    ];
    for (const [output, code, pointer] of wrong) {
      const { body } = await submit(session, { tool_use_id: 'call_1_1', output });
      const { details } = body.error as unknown as { details: { pointer: string }[] };
      expect([body.code, details.map((one) => one.pointer)]).toEqual([
        code,
        expect.arrayContaining([pointer]),
      ]);
    }
    const result = { tool_use_id: 'call_1_1', output: { ...image, data: base64(PNG) } };
    const stored = [{ ...image, sha256: sha256(PNG), size: PNG.length }];
    expect((await submit(session, result)).body.data.output).toEqual(stored);
    expect(await answerOf(session)).toBe('The result: [image image/png 16 bytes map.png]');
    expect((await submit(session, result)).status).toBe(200);
    const other = await blocked([call(), END]);
    const output = { type: 'image', url: 'https://example.com/a.png' };
    const submitted = await submit(other, { tool_use_id: 'call_1_1', output });
    expect(submitted.body.data.output).toEqual(output);
  });

  it('passes images and files of an output to the model, and journals their digests', async () => {
    const session = await blocked([call(), END]);
    const output = [
      { type: 'text', text: 'The map:' },
      { type: 'image', media_type: 'image/png', name: 'map.png', data: base64(PNG) },
    ];
    const result = { tool_use_id: 'call_1_1', output };
    const submitted = await submit(session, result);
    const stored = [
      { type: 'text', text: 'The map:' },
      { type: 'image', media_type: 'image/png', name: 'map.png', sha256: sha256(PNG), size: PNG.length },
    ];
    expect(submitted).toMatchObject({ status: 200, body: { data: { output: stored } } });
    expect(await answerOf(session)).toBe('The result: The map:[image image/png 16 bytes map.png]');
    const event = (await eventsOf(session)).find(({ type }) => type === 'agent.tool_result');
    expect(event?.data.output).toEqual(stored);
    expect((await submit(session, result)).status).toBe(200);
  });

  it('returns the first answer for a repeated result whose file has been changed or deleted', async () => {
    const session = await blocked([call(), call(false), END]);
    const parts = partsApi(api);
    await parts.putFile(session, 'map.txt', Buffer.from('north'));
    const result = { tool_use_id: 'call_1_1', output: [{ type: 'file', path: 'map.txt' }] };
    const first = await submit(session, result);
    expect([first.status, first.body.data.status]).toEqual([200, 'answered']);
    await parts.putFile(session, 'map.txt', Buffer.from('south'));
    const changed = await submit(session, result);
    expect([changed.status, changed.body.data]).toEqual([200, first.body.data]);
    await api.send('DELETE', `/sessions/${session}/files?path=map.txt`);
    const deleted = await submit(session, result);
    expect([deleted.status, deleted.body.data]).toEqual([200, first.body.data]);
    const other = { ...result, output: [{ type: 'file', path: 'other.txt' }] };
    expect((await submit(session, other)).body.code).toBe('FILE_NOT_FOUND');
    const open = { ...result, tool_use_id: 'call_1_2' };
    expect((await submit(session, open)).body.code).toBe('FILE_NOT_FOUND');
    expect((await pending(session)).map((one) => one.tool_use_id)).toEqual(['call_1_2']);
  });

  it('refuses invalid parts of an output with their pointers, and leaves the call open', async () => {
    const session = await blocked([call(), END]);
    const image = { type: 'image', media_type: 'image/png' };
    const wrong: [unknown, string, string][] = [
      [image, 'INVALID_REQUEST', '/output/0'],
      [{ ...image, url: 'https://a.example/b.png' }, 'INVALID_REQUEST', '/output/0/url'],
      [{ ...image, sha256: sha256(PNG), size: 16 }, 'INVALID_REQUEST', '/output/0/sha256'],
      [{ ...image, data: '!' }, 'INVALID_REQUEST', '/output/0/data'],
      [{ ...image, data: base64(Buffer.from('no image')) }, 'INVALID_REQUEST', '/output/0'],
      [{ type: 'file', path: 'absent.txt' }, 'FILE_NOT_FOUND', '/output/0/path'],
      [{ type: 'file', upload_id: `upl_${'7Z'.repeat(13)}` }, 'UPLOAD_NOT_FOUND', '/output/0/upload_id'],
    ];
    for (const [part, code, pointer] of wrong) {
      const { body } = await submit(session, { tool_use_id: 'call_1_1', output: [part] });
      const { details } = body.error as unknown as { details: { pointer: string }[] };
      expect([body.code, details[0]?.pointer], JSON.stringify(part)).toEqual([
        code,
        expect.stringMatching(`^${pointer}`),
      ]);
    }
    expect(await pending(session)).toHaveLength(1);
  });

  it('keeps lists that are not content parts as JSON', async () => {
    const session = await blocked([call(), END]);
    const output = [
      { type: 'file', path: 'a' },
      { type: 'directory', path: 'b' },
    ];
    expect((await submit(session, { tool_use_id: 'call_1_1', output })).body.data.output).toEqual(output);
  });

  it('returns 400 for bodies that are not exactly one result', async () => {
    const session = await blocked([call(), END]);
    for (const body of [
      {},
      { tool_use_id: 'call_1_1' },
      { output: 1 },
      { tool_use_id: 'call_1_1', output: 1, error: 'x' },
      { tool_use_id: 'call_1_1', error: 1 },
      { tool_use_id: 1, output: 1 },
      { tool_use_id: 'call_1_1', output: 1, more: 1 },
    ])
      expect((await submit(session, body)).body.code, JSON.stringify(body)).toBe('INVALID_REQUEST');
    expect((await submit(session, { tool_use_id: 'call_1_1', output: '\0' })).body.code).toBe('INVALID_TEXT');
    expect(await pending(session)).toHaveLength(1);
  });
});
