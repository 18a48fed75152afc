import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { streamText } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../../../support/api.ts';
import { type System, startSystem } from '../../../support/system.ts';
import { until } from '../../../support/wait.ts';

/* Clients that others have written, without changes, over HTTP. */

const script = (...steps: object[]) => ({ model: 'rehearsal/script', model_options: { steps } });
const SLOW = { text: 'a long story '.repeat(4_000), chunk_chars: 4, delay_ms: 15 };

describe('clients of the OpenAI API', () => {
  let system: System;
  let api: Api;
  let openai: OpenAI;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
    openai = new OpenAI({ baseURL: `${system.url}/api/v1/openai/v1`, apiKey: 'none', maxRetries: 0 });
  });
  afterAll(() => system[Symbol.asyncDispose]());

  it('the openai package lists models and holds a chat, whole and streamed', async () => {
    const agent = await api.createAgent({ name: 'Chat partner', ...script({ text: 'Hello! How are you?' }) });
    const models = [];
    for await (const model of openai.models.list()) models.push(model.id);
    expect(models).toContain('chat-partner');

    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Hi' }];
    const completion = await openai.chat.completions.create({ model: 'chat-partner', messages });
    const answer = completion.choices[0]?.message;
    expect(answer?.content).toBe('Hello! How are you?');
    expect(completion.usage?.total_tokens).toBeGreaterThan(0);

    const stream = openai.chat.completions.stream({
      model: agent,
      messages: [
        ...messages,
        { role: 'assistant', content: answer?.content ?? '' },
        { role: 'user', content: 'Go on' },
      ],
      stream_options: { include_usage: true },
    });
    const deltas: string[] = [];
    stream.on('content', (delta) => deltas.push(delta));
    const final = await stream.finalChatCompletion();
    expect(final.choices[0]?.message.content).toBe(deltas.join(''));
    expect(final.choices[0]?.finish_reason).toBe('stop');
    const sessions = await api.list<{ agent_id: string }>(`/agents/${agent}/sessions`);
    expect(sessions).toHaveLength(1);
  });

  it('the openai package creates, streams, resumes, cancels and deletes responses', async () => {
    const model = await api.createAgent(script({ text: 'It is forty-two.', chunk_chars: 3, delay_ms: 20 }));
    const first = await openai.responses.create({ model, input: 'What is it?' });
    expect(first).toMatchObject({ status: 'completed', output_text: 'It is forty-two.' });

    const stream = openai.responses.stream({ model, input: 'Again?', previous_response_id: first.id });
    const second = await stream.finalResponse();
    expect(second.output_text).toBe('It is forty-two.');
    expect(second.conversation).toEqual(first.conversation);

    const events = [];
    const resumed = await openai.responses.retrieve(second.id, { stream: true, starting_after: 3 });
    for await (const event of resumed) events.push(event);
    const text = events.flatMap((event) =>
      event.type === 'response.output_text.delta' ? [event.delta] : [],
    );
    expect(text.join('')).toBe('It is forty-two.');
    expect(events.at(-1)?.type).toBe('response.completed');

    const slow = await api.createAgent(script(SLOW));
    const background = await openai.responses.create({ model: slow, input: 'Tell.', background: true });
    await until('the response has begun', async () => {
      return (await openai.responses.retrieve(background.id)).status === 'in_progress';
    });
    expect((await openai.responses.cancel(background.id)).status).toBe('cancelled');
    await openai.responses.delete(first.id);
    await expect(openai.responses.retrieve(first.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  it('the openai package parses structured output', async () => {
    const schema = {
      type: 'object',
      properties: { total: { type: 'integer' } },
      required: ['total'],
      additionalProperties: false,
    };
    const model = await api.createAgent({
      ...script({ text: '{"total":3}' }),
      overridable: ['output_schema'],
    });
    const completion = await openai.chat.completions.parse({
      model,
      messages: [{ role: 'user', content: 'Count.' }],
      response_format: { type: 'json_schema', json_schema: { name: 'total', schema, strict: true } },
    });
    expect(JSON.parse(completion.choices[0]?.message.content ?? '')).toEqual({ total: 3 });
  });

  it('the openai package throws its own errors, with the parameter', async () => {
    const model = await api.createAgent();
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Hi' }];
    const unknown = openai.chat.completions.create({ model: 'nothing', messages });
    await expect(unknown).rejects.toMatchObject({ status: 404, code: 'model_not_found', param: 'model' });
    const several = openai.chat.completions.create({ model, messages, n: 2 });
    await expect(several).rejects.toBeInstanceOf(OpenAI.BadRequestError);
    await expect(several).rejects.toMatchObject({ param: 'n', requestID: expect.stringMatching(/^req_/) });
  });

  it('the openai package does not repeat a request whose turn has failed', async () => {
    const model = await api.createAgent(script({ error: { kind: 'invalid_request' } }));
    const client = openai.withOptions({ maxRetries: 3 });
    const failing = client.chat.completions.create({ model, messages: [{ role: 'user', content: 'Hi' }] });
    await expect(failing).rejects.toBeInstanceOf(OpenAI.InternalServerError);
    expect(await api.list(`/agents/${model}/sessions`)).toHaveLength(1);
  });

  it('AI SDK with its OpenAI-compatible provider streams an answer', async () => {
    const agent = await api.createAgent(script({ text: 'Hello from an agent.', chunk_chars: 5 }));
    const provider = createOpenAICompatible({ name: 'ahs', baseURL: `${system.url}/api/v1/openai/v1` });
    const { textStream } = streamText({ model: provider(agent), prompt: 'Hi' });
    const pieces: string[] = [];
    for await (const piece of textStream) pieces.push(piece);
    expect(pieces.join('')).toBe('Hello from an agent.');
  });
});
