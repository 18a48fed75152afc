import type { ModelMessage, ToolResultPart } from 'ai';
import { describe, expect, it } from 'vitest';
import { openProvider } from '../../support/providers/server.ts';
import { until } from '../../support/wait.ts';
import { contentOf, finished, PROTOCOLS, requestStep, WEATHER } from './model-step-fixture.ts';

const TEXT = 'In a town with a river – 東京 😀, I think.';
const CALLS = [
  { call: 'call_a', name: 'weather', input: '{"city":"Zürich"}' },
  { call: 'call_b', name: 'weather', input: '{"city":"東京"}' },
];

function resultOf({ call, name }: { call: string; name: string }): ToolResultPart {
  const output = { type: 'json' as const, value: { sky: `grey over ${call}` } };
  return { type: 'tool-result', toolCallId: call, toolName: name, output };
}

describe.each(PROTOCOLS)('a model step of $model', (protocol) => {
  const begin = () => openProvider(protocol);

  it('streams the text and returns the token usage', async () => {
    await using server = await begin();
    server.enqueue({ parts: [{ text: TEXT }], tokens: { input: 12, output: 7 } });
    const step = await requestStep(protocol, server);
    expect(step.texts).toEqual([TEXT]);
    expect(finished(step)).toMatchObject({
      finishReason: 'stop',
      content: [{ type: 'text', text: TEXT }],
      inputTokens: 12,
      outputTokens: 7,
    });
  });

  it('sends the key, the model and all messages', async () => {
    await using server = await begin();
    server.enqueue({ parts: [{ text: 'Here.' }] });
    const messages: ModelMessage[] = [
      { role: 'user', content: 'one' },
      { role: 'assistant', content: [{ type: 'text', text: 'two' }] },
      { role: 'user', content: 'three' },
    ];
    await requestStep(protocol, server, { messages, maxOutputTokens: 321 });
    expect(server.requests).toHaveLength(1);
    const [{ path, headers, body }] = server.requests as [(typeof server.requests)[0]];
    const [name, value] = protocol.credential;
    expect(path).toBe(protocol.path);
    expect(headers[name]).toBe(value);
    expect(body).toMatchObject({
      model: protocol.model.slice(protocol.model.indexOf('/') + 1),
      stream: true,
    });
    expect(body.max_tokens ?? body.max_output_tokens).toBe(321);
    expect(body.tools).toBeUndefined();
    const json = JSON.stringify(body);
    const positions = ['You are brief.', '"one"', '"two"', '"three"'].map((words) => json.indexOf(words));
    if (protocol.name === 'anthropic')
      expect(body.system).toEqual([{ type: 'text', text: 'You are brief.' }]);
    else expect(positions[0]).toBeLessThan(positions[1] ?? 0);
    expect(positions.slice(1)).toEqual(positions.slice(1).sort((a, b) => a - b));
    expect(positions).not.toContain(-1);
  });

  it('returns parallel tool calls and sends back their results', async () => {
    await using server = await begin();
    server.enqueue({ parts: [{ text: 'I look.' }, ...CALLS] }, { parts: [{ text: 'Rain.' }] });
    const step = await requestStep(protocol, server, { tools: [WEATHER] });
    const content = contentOf(step);
    expect(finished(step).finishReason).toBe('tool-calls');
    expect(content).toMatchObject([
      { type: 'text', text: 'I look.' },
      { type: 'tool-call', toolCallId: 'call_a', toolName: 'weather', input: { city: 'Zürich' } },
      { type: 'tool-call', toolCallId: 'call_b', toolName: 'weather', input: { city: '東京' } },
    ]);
    const sentTools = JSON.stringify(server.requests[0]?.body.tools);
    for (const part of ['"weather"', 'Says how the weather is.', '"city"']) expect(sentTools).toContain(part);

    const next = await requestStep(protocol, server, {
      tools: [WEATHER],
      messages: [
        { role: 'user', content: 'How is the weather?' },
        // The journal stores the content as JSON.
        { role: 'assistant', content: JSON.parse(JSON.stringify(content)) },
        { role: 'tool', content: CALLS.map(resultOf) },
      ],
    });
    expect(next.texts).toEqual(['Rain.']);
    const body = JSON.stringify(server.requests[1]?.body);
    for (const { call, input } of CALLS) {
      expect(body.split(`"${call}"`)).toHaveLength(3);
      expect(body).toContain(`grey over ${call}`);
      expect(body).toContain(JSON.parse(input).city);
    }
  });

  it.each([
    ['', {}],
    ['{"city":', { invalid_json: '{"city":' }],
    ['[1]', { invalid_json: '[1]' }],
    ['"text"', { invalid_json: '"text"' }],
    ['null', { invalid_json: 'null' }],
    ['{"__proto__":{"a":1}}', JSON.parse('{"__proto__":{"a":1}}')],
  ])('keeps the input %j of a call so that it can be sent again', async (input, kept) => {
    await using server = await begin();
    server.enqueue({ parts: [{ call: 'call_a', name: 'weather', input }] }, { parts: [{ text: 'Well.' }] });
    const content = contentOf(await requestStep(protocol, server, { tools: [WEATHER] }));
    expect(content).toMatchObject([{ type: 'tool-call', toolCallId: 'call_a', input: kept }]);
    const output = { type: 'error-text' as const, value: 'no' };
    const result = { type: 'tool-result' as const, toolCallId: 'call_a', toolName: 'weather', output };
    const messages: ModelMessage[] = [
      { role: 'user', content: 'How is the weather?' },
      { role: 'assistant', content },
      { role: 'tool', content: [result] },
    ];
    expect(contentOf(await requestStep(protocol, server, { tools: [WEATHER], messages }))).toHaveLength(1);
  });

  it('sends thinking blocks back with their signature', async () => {
    await using server = await begin();
    const thoughts = [
      { thought: 'The river is the Limmat.', seal: 'c2VhbDE=' },
      { thought: 'Or the Sumida.', seal: 'c2VhbDI=' },
    ];
    server.enqueue({ parts: [...thoughts, { text: 'Zürich.' }] }, { parts: [{ text: 'Sure.' }] });
    const step = await requestStep(protocol, server);
    expect(step.thoughts.join('')).toBe('The river is the Limmat.Or the Sumida.');
    const content = JSON.parse(JSON.stringify(contentOf(step)));
    await requestStep(protocol, server, {
      messages: [
        { role: 'user', content: 'Where am I?' },
        { role: 'assistant', content },
        { role: 'user', content: 'Sure?' },
      ],
    });
    const body = JSON.stringify(server.requests[1]?.body);
    const isSealed = protocol.name !== 'local-1';
    for (const { thought, seal } of thoughts) {
      expect(body).toContain(thought);
      expect(body.includes(`"${seal}"`)).toBe(isSealed);
    }
  });

  it('does not return a thinking block at the end of the answer', async () => {
    await using server = await begin();
    const parts = [{ text: 'Well.' }, { thought: 'The river', seal: 'c2VhbDE=' }];
    server.enqueue({ parts, finishReason: 'length' });
    const step = await requestStep(protocol, server);
    expect(step.thoughts).toEqual(['The river']);
    expect(finished(step).finishReason).toBe('length');
    expect(contentOf(step)).toMatchObject([{ type: 'text', text: 'Well.' }]);
  });

  it.each(PROTOCOLS)('accepts the history of an answer by $model', async (other) => {
    await using server = await begin();
    await using before = await openProvider(other);
    before.enqueue({ parts: [{ thought: 'Hm.', seal: 'c2VhbDE=' }, { text: 'I look.' }, ...CALLS] });
    server.enqueue({ parts: [{ text: 'Rain.' }] });
    const content = JSON.parse(
      JSON.stringify(contentOf(await requestStep(other, before, { tools: [WEATHER] }))),
    );
    const messages: ModelMessage[] = [
      { role: 'user', content: 'How is the weather?' },
      { role: 'assistant', content },
      { role: 'tool', content: CALLS.map(resultOf) },
    ];
    expect((await requestStep(protocol, server, { tools: [WEATHER], messages })).texts).toEqual(['Rain.']);
    const body = JSON.stringify(server.requests[0]?.body);
    for (const words of ['I look.', ...CALLS.map(({ call }) => `grey over ${call}`)])
      expect(body).toContain(words);
    expect(body.includes('c2VhbDE=')).toBe(protocol === other && protocol.name !== 'local-1');
  });

  it('passes on the settings of model_options', async () => {
    await using server = await begin();
    server.enqueue({ parts: [{ text: TEXT }], finishReason: 'length' });
    const options = { temperature: 0.25, top_p: 0.5, max_output_tokens: 77, stop_sequences: ['END'] };
    const step = await requestStep(protocol, server, { options });
    expect(finished(step).finishReason).toBe('length');
    const body = server.requests[0]?.body ?? {};
    expect(body.max_tokens ?? body.max_output_tokens).toBe(77);
    // OpenAI reasoning models accept fewer settings, and newer Anthropic models do not accept both temperature
    // and top_p.
    if (protocol.name === 'local-1')
      expect(body).toMatchObject({ temperature: 0.25, top_p: 0.5, stop: ['END'] });
    if (protocol.name === 'anthropic')
      expect(body).toMatchObject({ temperature: 0.25, stop_sequences: ['END'] });
  });

  it('has a default limit of output tokens', async () => {
    await using server = await begin();
    server.enqueue({ parts: [{ text: TEXT }] });
    await requestStep(protocol, server);
    const body = server.requests[0]?.body ?? {};
    expect(body.max_tokens ?? body.max_output_tokens).toBeGreaterThan(1_000);
  });

  it('closes its connection when the signal aborts', async () => {
    await using server = await begin();
    server.enqueue({ parts: [{ text: TEXT }], fault: 'silence' });
    const controller = new AbortController();
    const step = requestStep(protocol, server, { signal: controller.signal });
    await until('the request has arrived', () => server.requests.length > 0);
    controller.abort();
    expect((await step).end).toEqual({ kind: 'stopped', hasBegun: true });
    await until('the connection is closed', () => server.abandonedResponses === 1);
  });
});

describe('provider options', () => {
  const [anthropic, openai, compatible] = PROTOCOLS as [
    (typeof PROTOCOLS)[0],
    (typeof PROTOCOLS)[0],
    (typeof PROTOCOLS)[0],
  ];

  it('set the thinking budget and cache control of Anthropic', async () => {
    await using server = await openProvider(anthropic);
    server.enqueue({ parts: [{ text: 'Hm.' }] });
    const thinking = { type: 'enabled', budgetTokens: 2_000 };
    const options = { thinking, cacheControl: { type: 'ephemeral' }, max_output_tokens: 1_000 };
    await requestStep(anthropic, server, { options });
    expect(server.requests[0]?.body).toMatchObject({
      thinking: { type: 'enabled', budget_tokens: 2_000 },
      cache_control: { type: 'ephemeral' },
      max_tokens: 3_000,
    });
  });

  it('send a redacted thinking block back to Anthropic', async () => {
    await using server = await openProvider(anthropic);
    const parts = [{ thought: '', seal: 'hidden' }, { text: 'Yes.' }];
    server.enqueue({ parts }, { parts: [{ text: 'Sure.' }] });
    const step = await requestStep(anthropic, server);
    expect(step.thoughts).toEqual([]);
    const content = JSON.parse(JSON.stringify(contentOf(step)));
    const messages: ModelMessage[] = [
      { role: 'user', content: 'one' },
      { role: 'assistant', content },
      { role: 'user', content: 'two' },
    ];
    await requestStep(anthropic, server, { messages });
    expect(server.requests[1]?.body.messages).toMatchObject([
      {},
      { role: 'assistant', content: [{ type: 'redacted_thinking', data: 'hidden' }, { text: 'Yes.' }] },
      {},
    ]);
  });

  it('set the reasoning effort of OpenAI and disable storage', async () => {
    await using server = await openProvider(openai);
    server.enqueue({ parts: [{ text: 'Hm.' }] });
    await requestStep(openai, server, { options: { reasoningEffort: 'low' } });
    expect(server.requests[0]?.body).toMatchObject({
      store: false,
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'low' },
    });
  });

  it('reach an endpoint as members of the request', async () => {
    await using server = await openProvider(compatible);
    server.enqueue({ parts: [{ text: 'Hm.' }] });
    await requestStep(compatible, server, { options: { min_p: 0.1, seed: 7 } });
    expect(server.requests[0]?.body).toMatchObject({
      min_p: 0.1,
      seed: 7,
      stream_options: { include_usage: true },
    });
  });
});
