import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { type AgentsSystem, alice, openAgentsSystem } from './system.ts';

describe('ListModels', () => {
  let clock: FakeClock;
  let agents: AgentsSystem;

  beforeEach(async () => {
    clock = createFakeClock();
    agents = await openAgentsSystem('in process', { clock });
  });
  afterEach(() => agents[Symbol.asyncDispose]());

  const report = (id: string, keyProviders: string[], stopped = false) =>
    agents.as('runner').reportRunner({
      runner: { runnerId: `rnr_${id}`, providers: [], backends: [], keyProviders },
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
    await report('1', ['openai']);
    const { providers } = await agents.edge.listModels({}, alice);
    expect(providers).toEqual([
      { name: 'rehearsal', keyConfigured: false, available: true, endpoint: false },
      { name: 'anthropic', keyConfigured: false, available: false, endpoint: false },
      { name: 'openai', keyConfigured: true, available: true, endpoint: false },
      { name: 'local', keyConfigured: false, available: true, endpoint: true },
    ]);
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
