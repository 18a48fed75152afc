import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { type AgentsSystem, agentRequest, alice, change, openAgentsSystem, RUNTIME } from './system.ts';

describe('ListModels', () => {
  let clock: FakeClock;
  let agents: AgentsSystem;

  beforeEach(async () => {
    clock = createFakeClock();
    agents = await openAgentsSystem('in process', { clock });
  });
  afterEach(() => agents[Symbol.asyncDispose]());

  const report = (id: string, keyProviders: string[], stopped = false, optionalProviders: string[] = []) =>
    agents.as('runner').reportRunner({
      runner: { runnerId: `rnr_${id}`, providers: [], backends: [], keyProviders, optionalProviders },
      stopped,
    });

  async function withKey(): Promise<string[]> {
    const { providers } = await agents.edge.listModels({}, alice);
    return providers.filter(({ keyConfigured }) => keyConfigured).map(({ name }) => name);
  }

  it('returns the limits and capabilities of the table', async () => {
    const { models } = await agents.edge.listModels({}, alice);
    expect(models.find(({ name }) => name === 'openai/gpt-4')).toEqual({
      name: 'openai/gpt-4',
      contextWindow: 8_192,
      maxOutput: 8_192,
      capabilities: { tools: true, images: false, structuredOutput: false, caching: false },
      mediaTypes: { names: ['text/*'] },
    });
    expect(models.find(({ name }) => name === 'rehearsal/echo')).toMatchObject({
      contextWindow: undefined,
      maxOutput: undefined,
    });
  });

  it('returns which providers can be used without a key of the agent', async () => {
    await report('1', ['openai', 'bedrock', 'gemini'], false, ['bedrock', 'azure']);
    const { providers } = await agents.edge.listModels({}, alice);
    const none = { keyConfigured: false, available: false, endpoint: false, installed: true };
    expect(providers).toEqual([
      { ...none, name: 'rehearsal', available: true },
      { ...none, name: 'anthropic' },
      { ...none, name: 'openai', keyConfigured: true, available: true },
      { ...none, name: 'bedrock', keyConfigured: true, available: true },
      { ...none, name: 'vertex', installed: false },
      { ...none, name: 'azure' },
      { ...none, name: 'gemini', keyConfigured: true, installed: false },
      { ...none, name: 'local', available: true, endpoint: true },
    ]);
  });

  it('refuses models of a provider whose package a runner lacks, and names the package', async () => {
    const create = (fields: object) =>
      agents.edge.createAgent(agentRequest({ runtime: { ...RUNTIME, ...fields } }), alice);
    const gemini = { model: 'gemini/gemini-2.5-pro' };
    // Unknown while no runner reports.
    await create(gemini);
    await report('1', [], false, ['gemini', 'azure']);
    await create(gemini);
    await report('2', [], false, ['azure']);
    const message =
      'names a model of gemini, whose package @ai-sdk/google is not installed: install it for every runner with: ' +
      'npm install --no-save --save-prod --omit=dev @ai-sdk/google@4.0.121';
    const refusal = { code: 'INVALID_REQUEST', details: [{ pointer: '/model', message }] };
    await expect(create(gemini)).rejects.toMatchObject(refusal);
    const models = { names: ['rehearsal/echo', 'gemini/gemini-2.5-pro'] };
    await expect(create({ models })).rejects.toMatchObject({ details: [{ pointer: '/models/1', message }] });
    await expect(create({ context: gemini })).rejects.toMatchObject({
      details: [{ pointer: '/context/model', message }],
    });
    const { agent } = await create({ model: 'azure/gpt-5' });
    const update = agents.edge.updateAgent(change(agent?.agentId ?? '', gemini), alice);
    await expect(update).rejects.toMatchObject(refusal);
  });

  it('reports a key only if every runner has it', async () => {
    expect(await withKey()).toEqual([]);
    await report('1', ['openai', 'anthropic', 'local']);
    expect(await withKey()).toEqual(['anthropic', 'openai', 'local']);
    await report('2', ['openai']);
    expect(await withKey()).toEqual(['openai']);
    await report('2', ['anthropic']);
    expect(await withKey()).toEqual(['anthropic']);
    await report('2', [], true);
    expect(await withKey()).toEqual(['anthropic', 'openai', 'local']);
    clock.advance(20_001);
    expect(await withKey()).toEqual([]);
  });
});
