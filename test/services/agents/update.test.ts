import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLocalBus } from '../../../lib/bus/local.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { runOn } from '../../support/sql.ts';
import {
  ABSENT,
  type AgentsSystem,
  agentRequest,
  alice,
  bob,
  change,
  createAgent,
  openAgentsSystem,
  RUNTIME,
} from './system.ts';

describe.each(TRANSPORTS)('UpdateAgent, %s', (transport) => {
  const hints: string[] = [];
  const propagationWaits: number[] = [];
  let agents: AgentsSystem;

  beforeAll(async () => {
    const bus = createLocalBus();
    bus.subscribe('agents.changed', (agentId) => hints.push(agentId));
    const awaitPropagation = async (ms: number) => void propagationWaits.push(ms);
    agents = await openAgentsSystem(transport, { bus: { ...bus, awaitPropagation } });
  });
  afterAll(() => agents[Symbol.asyncDispose]());

  const update = async (agentId: string, members: object, by = alice) =>
    (await agents.edge.updateAgent(change(agentId, members), by)).agent!;
  const read = async (agentId: string) => (await agents.edge.getAgent({ agentId }, alice)).agent!;
  const versionsOf = async (agentId: string) =>
    (await agents.edge.listAgentVersions({ agentId, page: { limit: 100, cursor: '' } }, alice)).versions;

  it.each<[member: string, members: object]>([
    ['model', { model: 'rehearsal/script' }],
    ['model options', { modelOptionsJson: '{"steps":[]}' }],
    ['system', { system: 'Be kind.' }],
    ['max steps', { maxSteps: 5 }],
    ['budget', { budget: { maxTokens: 10, maxTurnSeconds: undefined } }],
  ])('makes a new version when the %s changes', async (_, members) => {
    const before = await read(await createAgent(agents));
    const after = await update(before.agentId, members);
    expect(after).toEqual({
      ...before,
      runtime: { ...before.runtime, ...members },
      version: 2,
      revision: 2,
      updatedAt: expect.any(Date),
    });
    expect(await read(before.agentId)).toEqual(after);
    expect((await versionsOf(before.agentId)).map(({ version, runtime }) => ({ version, runtime }))).toEqual([
      { version: 2, runtime: after.runtime },
      { version: 1, runtime: before.runtime },
    ]);
  });

  it.each<[member: string, members: object]>([
    ['name', { name: 'Renamed' }],
    ['description', { description: 'Described' }],
    ['metadata', { metadata: { entries: { key: 'value' } } }],
    ['enabled', { enabled: false }],
    ['visibility', { visibility: 'public' }],
  ])('keeps the version, and sets revision and updated_at, when the %s changes', async (member, members) => {
    const before = await read(await createAgent(agents, { metadata: { old: 'entry' } }));
    const after = await update(before.agentId, members);
    const expected = member === 'metadata' ? { metadata: { key: 'value' } } : members;
    expect(after).toEqual({ ...before, ...expected, revision: 2, updatedAt: expect.any(Date) });
    expect(after.updatedAt!.getTime()).toBeGreaterThanOrEqual(before.updatedAt!.getTime());
    expect(await read(before.agentId)).toEqual(after);
    expect(await versionsOf(before.agentId)).toHaveLength(1);
  });

  it('leaves the agent and its updated_at unchanged when no field differs', async () => {
    const runtime = { ...RUNTIME, modelOptionsJson: '{"a":{"x":1,"y":[2]},"b":2}', budget: { maxTokens: 3 } };
    const before = await read(await createAgent(agents, { runtime, metadata: { b: '2', a: '1' } }));
    hints.length = 0;
    const same = await update(before.agentId, {
      name: ` ${before.name} `,
      description: before.description,
      model: before.runtime?.model,
      modelOptionsJson: '{ "b": 2, "a": { "y": [2], "x": 1 } }',
      system: '',
      environmentId: '',
      tools: { tools: [] },
      maxSteps: 100,
      budget: { maxTokens: 3 },
      metadata: { entries: { a: '1', b: '2' } },
      enabled: true,
      visibility: 'private',
    });
    expect(same).toEqual(before);
    expect(await update(before.agentId, {})).toEqual(before);
    expect(await read(before.agentId)).toEqual(before);
    expect(await versionsOf(before.agentId)).toHaveLength(1);
    expect(hints).toEqual([]);
  });

  it.each<[members: object, pointer: string]>([
    [{ modelOptionsJson: '{"effrt":"low"}' }, '/model_options/effrt'],
    [{ model: 'openai/gpt-5' }, '/model_options/effort'],
    [{ model: 'openai/gpt-5', modelOptionsJson: '{"thinking":{}}' }, '/model_options/thinking'],
  ])('refuses a version with model options that its model does not know: %j', async (members, pointer) => {
    const runtime = {
      ...RUNTIME,
      model: 'anthropic/claude-sonnet-4-5',
      modelOptionsJson: '{"effort":"low"}',
    };
    const before = await read(await createAgent(agents, { runtime }));
    await expect(update(before.agentId, members)).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      details: [{ pointer }],
    });
    expect(await read(before.agentId)).toEqual(before);
  });

  it('lets an agent that was stored with unknown model options be disabled and corrected', async () => {
    const runtime = { ...RUNTIME, model: 'openai/gpt-5' };
    const agentId = await createAgent(agents, { runtime });
    await runOn(
      agents.databaseUrl,
      `update agents.agent_versions set model_options = '{"x":1}' where agent_id = '${agentId}'`,
    );
    expect(await update(agentId, { enabled: false })).toMatchObject({ enabled: false, version: 1 });
    await expect(update(agentId, { system: 'New' })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    expect(await update(agentId, { modelOptionsJson: '{}' })).toMatchObject({ version: 2 });
  });

  it('makes a new version when the order of a list in the model options changes', async () => {
    const agentId = await createAgent(agents, { runtime: { ...RUNTIME, modelOptionsJson: '{"a":[1,2]}' } });
    expect(await update(agentId, { modelOptionsJson: '{"a":[2,1]}' })).toMatchObject({ version: 2 });
  });

  it('replaces the budget and the metadata as a whole', async () => {
    const agentId = await createAgent(agents, {
      runtime: { ...RUNTIME, budget: { maxTokens: 3, maxTurnSeconds: 4 } },
      metadata: { a: '1' },
    });
    const members = { budget: { maxTurnSeconds: 4 }, metadata: { entries: {} } };
    const { runtime, metadata } = await update(agentId, members);
    expect(runtime?.budget).toEqual({ maxTokens: undefined, maxTurnSeconds: 4 });
    expect(metadata).toEqual({});
  });

  it('refuses an outdated if_version with VERSION_CONFLICT and changes nothing', async () => {
    const agentId = await createAgent(agents);
    await update(agentId, { system: 'Two', ifVersion: 1 });
    await expect(update(agentId, { name: 'Late', ifVersion: 1 })).rejects.toMatchObject({
      code: 'VERSION_CONFLICT',
    });
    expect(await read(agentId)).toMatchObject({ name: 'Echo', version: 2 });
    expect(await update(agentId, { name: 'In time', ifVersion: 2 })).toMatchObject({ name: 'In time' });
  });

  it('checks the fields before it looks up the agent', async () => {
    const wrong = {
      name: '',
      budget: { maxTokens: 0 },
      tools: { tools: [{ name: 'x', permission: 'ask' }] },
    };
    await expect(update(ABSENT, { ...wrong, ifVersion: 7 })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      details: [{ pointer: '/name' }, { pointer: '/tools/0/name' }, { pointer: '/budget/max_tokens' }],
    });
  });

  it('returns AGENT_NOT_FOUND for an absent agent and for one of another user, before it compares if_version', async () => {
    const members = { name: 'New', ifVersion: 7 };
    const agentId = await createAgent(agents);
    await expect(update(ABSENT, members)).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
    await expect(update('nonsense', members)).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
    await expect(update(agentId, members, bob)).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
  });

  it('applies all concurrent updates', async () => {
    const agentId = await createAgent(agents);
    const prompts = Array.from({ length: 12 }, (_, index) => `prompt ${index}`);
    const [renamed, ...answers] = await Promise.all([
      update(agentId, { name: 'Renamed meanwhile' }),
      ...prompts.map((system) => update(agentId, { system })),
    ]);
    expect(renamed.name).toBe('Renamed meanwhile');
    expect(answers.map((agent) => agent.version).sort((a, b) => a - b)).toEqual(prompts.map((_, i) => i + 2));
    const versions = await versionsOf(agentId);
    expect(versions).toHaveLength(13);
    for (const answer of answers) {
      expect(versions.find(({ version }) => version === answer.version)?.runtime).toEqual(answer.runtime);
    }
    expect(await read(agentId)).toMatchObject({ name: 'Renamed meanwhile', version: 13 });
  });

  it('applies one of several concurrent updates with the same if_version', async () => {
    const agentId = await createAgent(agents);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 6 }, (_, index) => update(agentId, { system: `${index}`, ifVersion: 1 })),
    );
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused.map(({ reason }) => reason.code)).toEqual(Array(5).fill('VERSION_CONFLICT'));
    expect(await versionsOf(agentId)).toHaveLength(2);
  });

  it('publishes a hint for each change, and waits for caches when enabled changes', async () => {
    const agentId = await createAgent(agents);
    hints.length = propagationWaits.length = 0;
    await update(agentId, { system: 'New' });
    expect({ hints, propagationWaits }).toEqual({ hints: [agentId], propagationWaits: [] });
    await update(agentId, { enabled: false });
    await update(agentId, { enabled: true });
    expect({ hints, propagationWaits }).toEqual({
      hints: [agentId, agentId, agentId],
      propagationWaits: [1_000, 1_000],
    });
  });

  it('replays the original answer of CreateAgent after an update', async () => {
    const request = agentRequest({ idempotencyKey: 'kept' });
    const { agent } = await agents.edge.createAgent(request, alice);
    await update(agent!.agentId, { name: 'Renamed' });
    expect(await agents.edge.createAgent(request, alice)).toEqual({ agent, replayed: true });
  });
});
