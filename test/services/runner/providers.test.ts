import type { ModelMessage, ToolResultPart } from 'ai';
import { describe, expect, it } from 'vitest';
import { openProvider } from '../../support/providers/server.ts';
import { until } from '../../support/wait.ts';
import { ask, contentOf, finished, WEATHER, WIRES } from './ask.ts';

const TEXT = 'In a town with a river – 東京 😀, I think.';
const CALLS = [
  { call: 'call_a', name: 'weather', input: '{"city":"Zürich"}' },
  { call: 'call_b', name: 'weather', input: '{"city":"東京"}' },
];

function resultOf({ call, name }: { call: string; name: string }): ToolResultPart {
  const output = { type: 'json' as const, value: { sky: `grey over ${call}` } };
  return { type: 'tool-result', toolCallId: call, toolName: name, output };
}

describe.each(WIRES)('a step of $model', (wire) => {
  const begin = () => openProvider(wire);

  it('tells the text while it comes, and counts what it took', async () => {
    await using server = await begin();
    server.answers({ says: [{ text: TEXT }], tokens: { input: 12, output: 7 } });
    const heard = await ask(wire, server);
    expect(heard.texts).toEqual([TEXT]);
    expect(finished(heard)).toMatchObject({
      finishReason: 'stop',
      content: [{ type: 'text', text: TEXT }],
      inputTokens: 12,
      outputTokens: 7,
    });
  });

  it('asks with the key, for this model, with everything that was said', async () => {
    await using server = await begin();
    server.answers({ says: [{ text: 'Here.' }] });
    const messages: ModelMessage[] = [
      { role: 'user', content: 'one' },
      { role: 'assistant', content: [{ type: 'text', text: 'two' }] },
      { role: 'user', content: 'three' },
    ];
    await ask(wire, server, { messages, maxOutputTokens: 321 });
    expect(server.requests).toHaveLength(1);
    const [{ path, headers, body }] = server.requests as [(typeof server.requests)[0]];
    const [name, value] = wire.credential;
    expect(path).toBe(wire.path);
    expect(headers[name]).toBe(value);
    expect(body).toMatchObject({ model: wire.model.slice(wire.model.indexOf('/') + 1), stream: true });
    expect(body.max_tokens ?? body.max_output_tokens).toBe(321);
    expect(body.tools).toBeUndefined();
    const said = JSON.stringify(body);
    const places = ['You are brief.', '"one"', '"two"', '"three"'].map((words) => said.indexOf(words));
    if (wire.name === 'anthropic') expect(body.system).toEqual([{ type: 'text', text: 'You are brief.' }]);
    else expect(places[0]).toBeLessThan(places[1] ?? 0);
    expect(places.slice(1)).toEqual(places.slice(1).sort((a, b) => a - b));
    expect(places).not.toContain(-1);
  });

  it('has several tools called at once, and tells it what they gave', async () => {
    await using server = await begin();
    server.answers({ says: [{ text: 'I look.' }, ...CALLS] }, { says: [{ text: 'Rain.' }] });
    const heard = await ask(wire, server, { tools: [WEATHER] });
    const content = contentOf(heard);
    expect(finished(heard).finishReason).toBe('tool-calls');
    expect(content).toMatchObject([
      { type: 'text', text: 'I look.' },
      { type: 'tool-call', toolCallId: 'call_a', toolName: 'weather', input: { city: 'Zürich' } },
      { type: 'tool-call', toolCallId: 'call_b', toolName: 'weather', input: { city: '東京' } },
    ]);
    const offered = JSON.stringify(server.requests[0]?.body.tools);
    for (const part of ['"weather"', 'Says how the weather is.', '"city"']) expect(offered).toContain(part);

    const next = await ask(wire, server, {
      tools: [WEATHER],
      messages: [
        { role: 'user', content: 'How is the weather?' },
        // As it comes back out of the journal.
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
    server.answers({ says: [{ call: 'call_a', name: 'weather', input }] }, { says: [{ text: 'Well.' }] });
    const content = contentOf(await ask(wire, server, { tools: [WEATHER] }));
    expect(content).toMatchObject([{ type: 'tool-call', toolCallId: 'call_a', input: kept }]);
    const output = { type: 'error-text' as const, value: 'no' };
    const result = { type: 'tool-result' as const, toolCallId: 'call_a', toolName: 'weather', output };
    const messages: ModelMessage[] = [
      { role: 'user', content: 'How is the weather?' },
      { role: 'assistant', content },
      { role: 'tool', content: [result] },
    ];
    expect(contentOf(await ask(wire, server, { tools: [WEATHER], messages }))).toHaveLength(1);
  });

  it('has its thoughts told back with their seal', async () => {
    await using server = await begin();
    const thoughts = [
      { thought: 'The river is the Limmat.', seal: 'c2VhbDE=' },
      { thought: 'Or the Sumida.', seal: 'c2VhbDI=' },
    ];
    server.answers({ says: [...thoughts, { text: 'Zürich.' }] }, { says: [{ text: 'Sure.' }] });
    const heard = await ask(wire, server);
    expect(heard.thoughts.join('')).toBe('The river is the Limmat.Or the Sumida.');
    const content = JSON.parse(JSON.stringify(contentOf(heard)));
    await ask(wire, server, {
      messages: [
        { role: 'user', content: 'Where am I?' },
        { role: 'assistant', content },
        { role: 'user', content: 'Sure?' },
      ],
    });
    const body = JSON.stringify(server.requests[1]?.body);
    const isSealed = wire.name !== 'local-1';
    for (const { thought, seal } of thoughts) {
      expect(body).toContain(thought);
      expect(body.includes(`"${seal}"`)).toBe(isSealed);
    }
  });

  it('is not told back thoughts that led to nothing', async () => {
    await using server = await begin();
    const says = [{ text: 'Well.' }, { thought: 'The river', seal: 'c2VhbDE=' }];
    server.answers({ says, ends: 'length' });
    const heard = await ask(wire, server);
    expect(heard.thoughts).toEqual(['The river']);
    expect(finished(heard).finishReason).toBe('length');
    expect(contentOf(heard)).toMatchObject([{ type: 'text', text: 'Well.' }]);
  });

  it.each(WIRES)('is told what $model has said before', async (other) => {
    await using server = await begin();
    await using before = await openProvider(other);
    before.answers({ says: [{ thought: 'Hm.', seal: 'c2VhbDE=' }, { text: 'I look.' }, ...CALLS] });
    server.answers({ says: [{ text: 'Rain.' }] });
    const content = JSON.parse(JSON.stringify(contentOf(await ask(other, before, { tools: [WEATHER] }))));
    const messages: ModelMessage[] = [
      { role: 'user', content: 'How is the weather?' },
      { role: 'assistant', content },
      { role: 'tool', content: CALLS.map(resultOf) },
    ];
    expect((await ask(wire, server, { tools: [WEATHER], messages })).texts).toEqual(['Rain.']);
    const body = JSON.stringify(server.requests[0]?.body);
    for (const words of ['I look.', ...CALLS.map(({ call }) => `grey over ${call}`)])
      expect(body).toContain(words);
    expect(body.includes('c2VhbDE=')).toBe(wire === other && wire.name !== 'local-1');
  });

  it('may produce what its options say, in the way they say', async () => {
    await using server = await begin();
    server.answers({ says: [{ text: TEXT }], ends: 'length' });
    const options = { temperature: 0.25, top_p: 0.5, max_output_tokens: 77, stop_sequences: ['END'] };
    const heard = await ask(wire, server, { options });
    expect(finished(heard).finishReason).toBe('length');
    const body = server.requests[0]?.body ?? {};
    expect(body.max_tokens ?? body.max_output_tokens).toBe(77);
    // Models of OpenAI that think, and the newer ones of Anthropic with both, take less.
    if (wire.name === 'local-1') expect(body).toMatchObject({ temperature: 0.25, top_p: 0.5, stop: ['END'] });
    if (wire.name === 'anthropic') expect(body).toMatchObject({ temperature: 0.25, stop_sequences: ['END'] });
  });

  it('has a limit when nobody says one', async () => {
    await using server = await begin();
    server.answers({ says: [{ text: TEXT }] });
    await ask(wire, server);
    const body = server.requests[0]?.body ?? {};
    expect(body.max_tokens ?? body.max_output_tokens).toBeGreaterThan(1_000);
  });

  it('ends its connection when nobody waits for it any more', async () => {
    await using server = await begin();
    server.answers({ says: [{ text: TEXT }], trouble: 'silence' });
    const controller = new AbortController();
    const step = ask(wire, server, { signal: controller.signal });
    await until('the request has come', () => server.requests.length > 0);
    controller.abort();
    expect((await step).end).toEqual({ kind: 'stopped' });
    await until('the connection is closed', () => server.left === 1);
  });
});

describe('the options of a provider', () => {
  const [anthropic, openai, compatible] = WIRES as [(typeof WIRES)[0], (typeof WIRES)[0], (typeof WIRES)[0]];

  it('has Anthropic think within a budget, and keep what it has read', async () => {
    await using server = await openProvider(anthropic);
    server.answers({ says: [{ text: 'Hm.' }] });
    const thinking = { type: 'enabled', budgetTokens: 2_000 };
    const options = { thinking, cacheControl: { type: 'ephemeral' }, max_output_tokens: 1_000 };
    await ask(anthropic, server, { options });
    expect(server.requests[0]?.body).toMatchObject({
      thinking: { type: 'enabled', budget_tokens: 2_000 },
      cache_control: { type: 'ephemeral' },
      max_tokens: 3_000,
    });
  });

  it('tells Anthropic back a thought that it keeps to itself', async () => {
    await using server = await openProvider(anthropic);
    const says = [{ thought: '', seal: 'hidden' }, { text: 'Yes.' }];
    server.answers({ says }, { says: [{ text: 'Sure.' }] });
    const heard = await ask(anthropic, server);
    expect(heard.thoughts).toEqual([]);
    const content = JSON.parse(JSON.stringify(contentOf(heard)));
    const messages: ModelMessage[] = [
      { role: 'user', content: 'one' },
      { role: 'assistant', content },
      { role: 'user', content: 'two' },
    ];
    await ask(anthropic, server, { messages });
    expect(server.requests[1]?.body.messages).toMatchObject([
      {},
      { role: 'assistant', content: [{ type: 'redacted_thinking', data: 'hidden' }, { text: 'Yes.' }] },
      {},
    ]);
  });

  it('has OpenAI think as hard as it is told, and keep nothing', async () => {
    await using server = await openProvider(openai);
    server.answers({ says: [{ text: 'Hm.' }] });
    await ask(openai, server, { options: { reasoningEffort: 'low' } });
    expect(server.requests[0]?.body).toMatchObject({
      store: false,
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'low' },
    });
  });

  it('reaches an endpoint as it is written', async () => {
    await using server = await openProvider(compatible);
    server.answers({ says: [{ text: 'Hm.' }] });
    await ask(compatible, server, { options: { min_p: 0.1, seed: 7 } });
    expect(server.requests[0]?.body).toMatchObject({
      min_p: 0.1,
      seed: 7,
      stream_options: { include_usage: true },
    });
  });
});
