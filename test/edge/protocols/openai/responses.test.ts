import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type System, startSystem } from '../../../support/system.ts';
import { until } from '../../../support/wait.ts';
import { createOpenaiClient, eventsOf, type OpenaiClient } from './client.ts';

const SLOW = { text: 'a long story '.repeat(4_000), chunk_chars: 4, delay_ms: 15 };

describe('the OpenAI-compatible responses', () => {
  let system: System;
  let client: OpenaiClient;
  beforeAll(async () => {
    system = await startSystem();
    client = createOpenaiClient(system);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const create = (body: object) => client.post('/responses', body);
  const script = (...steps: object[]) => ({ model: 'rehearsal/script', model_options: { steps } });
  const textOf = (response: { output: { content: { text: string }[] }[] }) =>
    response.output.flatMap(({ content }) => content.map(({ text }) => text)).join('');
  const streamOf = async (path: string, body?: object) =>
    (await eventsOf(await client.send(body ? 'POST' : 'GET', path, body))).map((event) => JSON.parse(event));

  it('answers an input, and continues or forks from a previous response', async () => {
    const model = await client.api.createAgent();
    const first = (await create({ model, input: 'one', metadata: { ticket: '7' } })).body;
    expect(first).toMatchObject({
      object: 'response',
      status: 'completed',
      model,
      metadata: { ticket: '7' },
      usage: { total_tokens: expect.any(Number) },
    });
    const next = { model, input: 'two', previous_response_id: first.id };
    const second = (await create(next)).body;
    expect(second.conversation).toEqual(first.conversation);
    expect(second.previous_response_id).toBe(first.id);
    const other = (await create({ ...next, input: 'deux' })).body;
    expect(other.conversation).not.toEqual(first.conversation);
    const third = (await create({ model, input: 'three', conversation: first.conversation.id })).body;
    expect(third.conversation).toEqual(first.conversation);
  });

  it('returns a stored response, until it is deleted', async () => {
    const model = await client.api.createAgent();
    const created = (await create({ model, input: 'one' })).body;
    const { body } = await client.get(`/responses/${created.id}`);
    expect(body).toMatchObject({
      id: created.id,
      status: 'completed',
      output: created.output,
      usage: created.usage,
    });
    expect((await client.delete(`/responses/${created.id}`)).body).toEqual({
      ...{ id: created.id, object: 'response.deleted', deleted: true },
    });
    const unknown = { status: 404, body: { error: { type: 'invalid_request_error' } } };
    expect(await client.get(`/responses/${created.id}`)).toMatchObject(unknown);
    expect(await client.delete(`/responses/${created.id}`)).toMatchObject(unknown);
    expect(await create({ model, input: 'x', previous_response_id: created.id })).toMatchObject(unknown);
    const { status } = await client.api.get(`/sessions/${created.conversation.id}`);
    expect(status).toBe(200);
  });

  it('runs in the background, and can be cancelled', async () => {
    const model = await client.api.createAgent(script(SLOW));
    const { body } = await create({ model, input: 'tell', background: true });
    expect(body).toMatchObject({ status: 'queued', background: true, output: [] });
    await until('the response has begun', async () => {
      const { status, output } = (await client.get(`/responses/${body.id}`)).body;
      return status === 'in_progress' && output.length > 0;
    });
    const cancelled = (await client.post(`/responses/${body.id}/cancel`, {})).body;
    expect(cancelled.status).toBe('cancelled');
    expect(textOf(cancelled)).not.toBe('');
    expect(SLOW.text.startsWith(textOf(cancelled))).toBe(true);
    expect((await client.post(`/responses/${body.id}/cancel`, {})).body).toEqual(cancelled);
  });

  it('streams events whose numbers resume the stream exactly', async () => {
    const model = await client.api.createAgent(
      script({ text: 'It is forty-two.', chunk_chars: 3, delay_ms: 40 }),
    );
    const events = await streamOf('/responses', { model, input: '?', stream: true });
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['response.created', 'response.output_text.delta', 'response.completed']),
    );
    const deltas = events.filter(({ type }) => type === 'response.output_text.delta');
    expect(deltas.map(({ delta }) => delta).join('')).toBe('It is forty-two.');
    const { id } = events[0].response;
    for (const index of [0, 4, events.length - 2]) {
      const after = events[index].sequence_number;
      const rest = await streamOf(`/responses/${id}?stream=true&starting_after=${after}`);
      expect(rest.map(({ sequence_number: number }) => number)).toEqual(
        events.slice(index + 1).map(({ sequence_number: number }) => number),
      );
    }
    const beyond = events.at(-1).sequence_number + 1;
    expect(await client.get(`/responses/${id}?stream=true&starting_after=${beyond}`)).toMatchObject({
      status: 400,
      body: { error: { param: 'starting_after' } },
    });
  });

  it('is incomplete while the turn waits, and completed after a person has answered', async () => {
    const model = await client.api.createAgent({
      ...script({ tool: 'calculator', input: { expression: '6 * 7' } }, { text: 'It is 42.' }),
      tools: [{ name: 'calculator', permission: 'ask' }],
    });
    const { body } = await create({ model, input: '?' });
    expect(body).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'requires_action' } });
    expect(textOf(body)).toContain('permission to call the tool calculator');
    const session = body.conversation.id;
    const [approval] = await client.api.list<{ approval_id: string }>(`/sessions/${session}/approvals`);
    await client.api.post(`/sessions/${session}/approvals/${approval?.approval_id}`, { decision: 'allow' });
    await until('the response is completed', async () => {
      const { status } = (await client.get(`/responses/${body.id}`)).body;
      return status === 'completed';
    });
    expect(textOf((await client.get(`/responses/${body.id}`)).body)).toBe('It is 42.');
  });

  it('requests are counted by operation and outcome', async () => {
    const model = await client.api.createAgent();
    await create({ model, input: 'one' });
    await create({ model, input: '' });
    const metrics = await (await fetch(`${system.url}/metrics`)).text();
    const series = 'ahs_protocol_requests_total{protocol="openai",operation="POST /responses",outcome=';
    for (const outcome of ['ok', 'refused']) expect(metrics).toContain(`${series}"${outcome}"}`);
    expect(metrics).toContain('ahs_protocol_waits{protocol="openai"} 0');
  });

  it('of another model, unknown ones and malformed ids are not found', async () => {
    const [model, other] = [await client.api.createAgent(), await client.api.createAgent()];
    const { id } = (await create({ model, input: 'one' })).body;
    for (const previous of [id, 'resp_01M7XYC91CC5TE06JQWDWRTJVA', 'resp_x', ''.padEnd(300, 'x')])
      expect(await create({ model: other, input: 'two', previous_response_id: previous })).toMatchObject({
        status: 404,
      });
    expect(await client.get('/responses/resp_x')).toMatchObject({ status: 404 });
  });
});
