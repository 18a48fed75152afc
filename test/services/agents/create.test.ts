import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CreateAgentRequest } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { type AgentsSystem, agentRequest, alice, bob, openAgentsSystem, RUNTIME } from './system.ts';

describe.each(TRANSPORTS)('CreateAgent, %s', (transport) => {
  let agents: AgentsSystem;
  beforeAll(async () => {
    agents = await openAgentsSystem(transport);
  });
  afterAll(() => agents[Symbol.asyncDispose]());

  const create = (overrides: Partial<CreateAgentRequest>, by = alice) =>
    agents.edge.createAgent(agentRequest(overrides), by);

  it('returns the agent as GetAgent then returns it', async () => {
    const runtime = {
      model: 'rehearsal/script',
      modelOptionsJson: '{"steps":[{"text":"Hello"}]}',
      system: 'Be brief.\n',
      environmentId: '',
      tools: [],
      maxSteps: 7,
      budget: { maxTokens: 1_000, maxTurnSeconds: undefined },
      outputSchemaJson: '{"type":"object"}',
      overridable: { names: ['model', 'budget'] },
      context: { strategy: 'summarize', threshold: 0.5 },
      models: { names: [] },
      mcpServers: { ids: [] },
      skills: { items: [] },
    };
    const { agent, replayed } = await create({
      name: '  Script ',
      description: 'Says hello',
      runtime,
      metadata: { team: 'blue', 'a/b': '' },
      enabled: false,
      visibility: 'allowlist',
    });
    expect(replayed).toBe(false);
    expect(agent).toEqual({
      agentId: expect.stringMatching(/^agt_[0-9A-HJKMNP-TV-Z]{26}$/),
      name: 'Script',
      description: 'Says hello',
      runtime,
      metadata: { team: 'blue', 'a/b': '' },
      enabled: false,
      exposure: { mcp: 'on', openai: 'on', a2a: 'off' },
      visibility: 'allowlist',
      version: 1,
      revision: 1,
      createdBy: alice.caller.userId,
      createdAt: expect.any(Date),
      updatedAt: agent?.createdAt,
      level: 'manage',
    });
    expect(await agents.edge.getAgent({ agentId: agent!.agentId }, alice)).toEqual({ agent });
  });

  it.each([
    ['anthropic/claude-sonnet-4-5', 'thinking'],
    ['openai/ft:gpt-4o:team::id', 'reasoningEffort'],
    ['local/meta-llama/Llama-3.1-8B', 'x'],
  ])('accepts the model %s with standard options and its option %s', async (model, option) => {
    const modelOptionsJson = `{"temperature":0.5,"top_p":1,"top_k":3,"seed":-1,"stop_sequences":["a"],"max_output_tokens":9,"${option}":null}`;
    const { agent } = await create({ runtime: { ...RUNTIME, model, modelOptionsJson } });
    expect(agent?.runtime).toMatchObject({ model, modelOptionsJson });
  });

  it.each([
    ['openai/gpt-5', { temprature: 1 }, ['/model_options/temprature']],
    ['openai/gpt-5', { thinking: {}, seed: 1 }, ['/model_options/thinking']],
    ['anthropic/claude-sonnet-4-5', { reasoningEffort: 'low' }, ['/model_options/reasoningEffort']],
    [
      'anthropic/claude-sonnet-4-5',
      { 'a/b': 1, constructor: 1 },
      ['/model_options/a~1b', '/model_options/constructor'],
    ],
  ])('refuses unknown model options of %s: %j', async (model, options, pointers) => {
    const runtime = { ...RUNTIME, model, modelOptionsJson: JSON.stringify(options) };
    await expect(create({ runtime })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      details: pointers.map((pointer) => ({ pointer, message: `is not an option of the model ${model}` })),
    });
  });

  it('stores the permissions of tools, and the default permission for a tool without one', async () => {
    const tools = [
      { name: 'calculator', permission: 'ask' },
      { name: 'current_time', permission: '' },
    ];
    const { agent } = await create({ runtime: { ...RUNTIME, tools } });
    expect(agent?.runtime?.tools).toEqual([
      { name: 'calculator', permission: 'ask' },
      { name: 'current_time', permission: 'allow' },
    ]);
  });

  it('accepts every field at its maximum size', async () => {
    const keys = Array.from({ length: 50 }, (_, index) => `${index}`.padEnd(64, 'k'));
    const metadata = Object.fromEntries(keys.map((key) => [key, '😀'.repeat(500)]));
    const { agent } = await create({
      name: '😀'.repeat(200),
      description: 'd'.repeat(2_000),
      runtime: {
        ...RUNTIME,
        system: 's'.repeat(256 * 1024),
        modelOptionsJson: JSON.stringify({ filling: 'o'.repeat(256 * 1024 - 14) }),
        maxSteps: 1_000,
        budget: { maxTokens: 2 ** 31 - 1, maxTurnSeconds: 1 },
      },
      metadata,
    });
    expect(agent?.metadata).toEqual(metadata);
    expect(agent?.runtime?.system).toHaveLength(256 * 1024);
  });

  it.each<[what: string, overrides: Partial<CreateAgentRequest>, pointer: string]>([
    ['no name', { name: '' }, '/name'],
    ['a blank name', { name: ' \t ' }, '/name'],
    ['a name of 201 characters', { name: '😀'.repeat(201) }, '/name'],
    ['a long description', { description: 'd'.repeat(2_001) }, '/description'],
    ['an unknown visibility', { visibility: 'secret' }, '/visibility'],
    [
      '51 metadata',
      { metadata: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`k${i}`, ''])) },
      '/metadata',
    ],
    ['an empty metadata name', { metadata: { '': 'x' } }, '/metadata'],
    ['a long metadata name', { metadata: { ['k'.repeat(65)]: 'x' } }, '/metadata'],
    ['a long metadata value', { metadata: { 'a/b~c': 'x'.repeat(501) } }, '/metadata/a~1b~0c'],
    ['no runtime', { runtime: undefined }, '/model'],
  ])('refuses %s', async (_, overrides, pointer) => {
    await expect(create(overrides)).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      details: expect.arrayContaining([{ pointer, message: expect.any(String) }]),
    });
  });

  it.each<[what: string, runtime: Partial<typeof RUNTIME> | object, pointer: string, message: RegExp]>([
    ['a model without a provider', { model: 'echo' }, '/model', /must be <provider>\/<model id>/],
    ['a model without an id', { model: 'rehearsal/' }, '/model', /must be <provider>\/<model id>/],
    [
      'an unknown provider',
      { model: 'acme/large' },
      '/model',
      /provider: rehearsal, anthropic, openai, bedrock, vertex, azure, gemini, local$/,
    ],
    ['an inherited name as provider', { model: 'constructor/name' }, '/model', /provider/],
    [
      'an unknown built-in model',
      { model: 'rehearsal/chorus' },
      '/model',
      /of this release: rehearsal\/echo, rehearsal\/script/,
    ],
    ['a model id with a space', { model: 'openai/gpt 5' }, '/model', /without blanks/],
    ['a model id of 201 characters', { model: `openai/${'x'.repeat(201)}` }, '/model', /at most 200/],
    [
      'an endpoint that is not configured',
      { model: 'nowhere/x' },
      '/model',
      /rehearsal, anthropic, openai, bedrock, vertex, azure, gemini, local/,
    ],
    ...[
      ['temperature', '"hot"', /number/],
      ['temperature', 'null', /number/],
      ['top_p', '1.5', /from 0 to 1/],
      ['top_k', '0.5', /whole number/],
      ['presence_penalty', '[]', /number/],
      ['stop_sequences', '"END"', /list of non-empty strings/],
      ['stop_sequences', '[""]', /list of non-empty strings/],
      ['seed', '1.5', /whole number/],
      ['max_output_tokens', '0', /from 1 to/],
    ].map(([name, value, message]): [string, object, string, RegExp] => [
      `${name} of ${value}`,
      { modelOptionsJson: `{"${name}":${value}}` },
      `/model_options/${name}`,
      message as RegExp,
    ]),
    ['options that are not JSON', { modelOptionsJson: '{' }, '/model_options', /JSON object/],
    ['options that are a list', { modelOptionsJson: '[]' }, '/model_options', /JSON object/],
    ['options that are null', { modelOptionsJson: 'null' }, '/model_options', /JSON object/],
    [
      'options over 256 KiB',
      { modelOptionsJson: JSON.stringify({ o: 'o'.repeat(256 * 1024) }) },
      '/model_options',
      /256 KiB/,
    ],
    [
      'options nested 100,000 levels deep',
      { modelOptionsJson: `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}` },
      '/model_options',
      /nested/,
    ],
    ['a system prompt over 256 KiB', { system: 'é'.repeat(128 * 1024 + 1) }, '/system', /256 KiB/],
    [
      'an unknown environment',
      { environmentId: 'env_7ZZZZZZZZZZZZZZZZZZZZZZZZZ' },
      '/environment_id',
      /must name an existing environment/,
    ],
    [
      'an unknown tool',
      { tools: [{ name: 'telepathy', permission: 'allow' }] },
      '/tools/0/name',
      /must name a tool of this release/,
    ],
    [
      'an unknown permission',
      { tools: [{ name: 'calculator', permission: 'maybe' }] },
      '/tools/0/permission',
      /allow, ask, deny/,
    ],
    [
      'a tool twice',
      {
        tools: [
          { name: 'calculator', permission: 'ask' },
          { name: 'calculator', permission: 'ask' },
        ],
      },
      '/tools/1/name',
      /must not repeat an earlier tool/,
    ],
    ['no steps', { maxSteps: 0 }, '/max_steps', /1 to 1000/],
    ['1001 steps', { maxSteps: 1_001 }, '/max_steps', /1 to 1000/],
    ['a budget of nothing', { budget: { maxTokens: 0 } }, '/budget/max_tokens', /whole number from 1/],
    [
      'a budget of no time',
      { budget: { maxTurnSeconds: -1 } },
      '/budget/max_turn_seconds',
      /whole number from 1/,
    ],
  ])('refuses %s', async (_, runtime, pointer, message) => {
    await expect(create({ runtime: { ...RUNTIME, ...runtime } })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      details: expect.arrayContaining([{ pointer, message: expect.stringMatching(message) }]),
    });
  });

  it.each<[where: string, overrides: Partial<CreateAgentRequest>, pointer: string]>([
    ['a name', { name: 'a\0b' }, '/name'],
    ['a description', { description: '\0' }, '/description'],
    ['a system prompt', { runtime: { ...RUNTIME, system: '\0' } }, '/system'],
    ['a metadata value', { metadata: { key: '\0' } }, '/metadata/key'],
    ['a metadata name', { metadata: { 'k\0': '' } }, '/metadata'],
    [
      'a model option',
      { runtime: { ...RUNTIME, modelOptionsJson: '{"a":[{"b":"\\u0000"}]}' } },
      '/model_options/a/0/b',
    ],
    [
      'the name of a model option',
      { runtime: { ...RUNTIME, modelOptionsJson: '{"\\u0000":1}' } },
      '/model_options',
    ],
  ])('refuses NUL in %s', async (_, overrides, pointer) => {
    await expect(create(overrides)).rejects.toMatchObject({
      code: 'INVALID_TEXT',
      details: [{ pointer, message: 'must not contain a NUL character or a lone surrogate' }],
    });
  });

  it('refuses a lone surrogate in a model option', async () => {
    const runtime = { ...RUNTIME, modelOptionsJson: '{"text":"\\ud800"}' };
    await expect(create({ runtime })).rejects.toMatchObject({
      code: 'INVALID_TEXT',
      details: [{ pointer: '/model_options/text' }],
    });
  });

  it('reports all problems at once, at most twenty', async () => {
    const several = create({ name: '', visibility: '', runtime: { ...RUNTIME, model: '', maxSteps: 0 } });
    await expect(several).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: '/name must be 1–200 characters long (and 3 more)',
      details: ['/name', '/model', '/max_steps', '/visibility'].map((pointer) => ({ pointer })),
    });
    const tools = Array.from({ length: 5_000 }, () => ({ name: 'telepathy', permission: '' }));
    const many = create({ runtime: { ...RUNTIME, tools } });
    await expect(many).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      details: { length: 20 },
    });
  });

  it('reports long pointers unabridged', async () => {
    const long = (index: number) => `${index}`.padEnd(230, '\u4e2d');
    const options = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [long(index), '\0']));
    const runtime = { ...RUNTIME, modelOptionsJson: JSON.stringify({ a: options }) };
    const refused = create({ runtime }).catch((error: unknown) => error);
    expect(await refused).toMatchObject({
      code: 'INVALID_TEXT',
      details: expect.arrayContaining([
        { pointer: `/model_options/a/${long(0)}`, message: expect.any(String) },
      ]),
    });
  });

  it('returns the first answer for a repeated idempotency key', async () => {
    const first = await create({ idempotencyKey: 'key-1', metadata: { a: '1' } });
    const second = await create({ idempotencyKey: 'key-1', metadata: { a: '1' } });
    expect(second).toEqual({ agent: first.agent, replayed: true });
  });

  it('creates one agent for concurrent requests with the same idempotency key', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => create({ name: 'Met', idempotencyKey: 'key-2' })),
    );
    expect(answers.filter((answer) => !answer.replayed)).toHaveLength(1);
    expect(new Set(answers.map((answer) => answer.agent?.agentId)).size).toBe(1);
  });

  it('refuses an idempotency key of a request with other content', async () => {
    await create({ idempotencyKey: 'key-3' });
    await expect(create({ idempotencyKey: 'key-3', name: 'Other' })).rejects.toMatchObject({
      code: 'IDEMPOTENCY_KEY_CONFLICT',
    });
  });

  it('accepts the same idempotency key from different users', async () => {
    const mine = await create({ idempotencyKey: 'key-4' });
    const theirs = await create({ idempotencyKey: 'key-4' }, bob);
    expect(theirs.replayed).toBe(false);
    expect(theirs.agent?.agentId).not.toBe(mine.agent?.agentId);
  });

  it('accepts the idempotency key of a refused request again', async () => {
    await expect(create({ name: '', idempotencyKey: 'key-5' })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
    });
    expect(await create({ idempotencyKey: 'key-5' })).toMatchObject({ replayed: false });
  });
});
