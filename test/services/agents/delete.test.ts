import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLocalBus } from '../../../lib/bus/local.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { ABSENT, type AgentsSystem, alice, bob, change, createAgent, openAgentsSystem } from './system.ts';

describe.each(TRANSPORTS)('DeleteAgent and ResolveAgent, %s', (transport) => {
  let agents: AgentsSystem;
  const calls: string[] = [];

  beforeAll(async () => {
    const bus = createLocalBus();
    bus.subscribe('agents.changed', (agentId) => calls.push(agentId));
    const awaitPropagation = async () => void calls.push('propagated');
    agents = await openAgentsSystem(transport, { bus: { ...bus, awaitPropagation } });
  });
  afterAll(() => agents[Symbol.asyncDispose]());

  const notFound = { code: 'AGENT_NOT_FOUND' };
  const firstPage = { limit: 100, cursor: '' };
  const resolve = (agentId: string, by = alice) => agents.as('sessions').resolveAgent({ agentId }, by);

  it('removes the agent from every read', async () => {
    const agentId = await createAgent(agents, { name: 'doomed' });
    expect(await agents.edge.deleteAgent({ agentId }, alice)).toEqual({});
    const { edge } = agents;
    await expect(edge.getAgent({ agentId }, alice)).rejects.toMatchObject(notFound);
    await expect(edge.listAgentVersions({ agentId, page: firstPage }, alice)).rejects.toMatchObject(notFound);
    await expect(edge.updateAgent(change(agentId, { name: 'x' }), alice)).rejects.toMatchObject(notFound);
    await expect(edge.deleteAgent({ agentId }, alice)).rejects.toMatchObject(notFound);
    await expect(resolve(agentId)).rejects.toMatchObject(notFound);
    expect((await edge.listAgents({ q: 'doomed', page: firstPage }, alice)).agents).toEqual([]);
    const lookUp = agents.as('deployments').lookUpAgents;
    expect(await lookUp({ agentIds: [agentId], nameContains: '' }, alice)).toEqual({ agents: [] });
    expect(await lookUp({ agentIds: [], nameContains: 'doomed' }, alice)).toEqual({ agents: [] });
  });

  it('keeps the versions of a deleted agent readable for running turns', async () => {
    const agentId = await createAgent(agents);
    await agents.edge.updateAgent(change(agentId, { system: 'Two' }), alice);
    await agents.edge.deleteAgent({ agentId }, alice);
    const { version } = await agents.as('runner').getAgentVersion({ agentId, version: 2 });
    expect(version).toMatchObject({ agentId, version: 2, runtime: { system: 'Two' } });
  });

  it('returns after the hint is published and caches have expired', async () => {
    const agentId = await createAgent(agents);
    calls.length = 0;
    await agents.edge.deleteAgent({ agentId }, alice);
    expect(calls).toEqual([agentId, 'propagated']);
  });

  it('returns AGENT_NOT_FOUND for an absent agent and for one of another user, without a hint', async () => {
    const agentId = await createAgent(agents);
    calls.length = 0;
    await expect(agents.edge.deleteAgent({ agentId }, bob)).rejects.toMatchObject(notFound);
    await expect(agents.edge.deleteAgent({ agentId: ABSENT }, bob)).rejects.toMatchObject(notFound);
    await expect(agents.edge.deleteAgent({ agentId: '\0' }, bob)).rejects.toMatchObject(notFound);
    expect(calls).toEqual([]);
    expect(await resolve(agentId)).toEqual({ agentId, version: 1 });
  });

  it('succeeds for exactly one of several concurrent deletions', async () => {
    const agentId = await createAgent(agents);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 4 }, () => agents.edge.deleteAgent({ agentId }, alice)),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('resolves an agent to its newest version', async () => {
    const agentId = await createAgent(agents);
    await agents.edge.updateAgent(change(agentId, { system: 'Two' }), alice);
    expect(await resolve(agentId)).toEqual({ agentId, version: 2 });
  });

  it('refuses to resolve a disabled agent until it is enabled again', async () => {
    const agentId = await createAgent(agents, { enabled: false });
    await expect(resolve(agentId)).rejects.toMatchObject({ code: 'AGENT_NOT_RUNNABLE' });
    await agents.edge.updateAgent(change(agentId, { enabled: true }), alice);
    expect(await resolve(agentId)).toEqual({ agentId, version: 1 });
  });

  it('refuses to resolve an absent agent and one of another user, disabled or not', async () => {
    const agentId = await createAgent(agents, { enabled: false });
    await expect(resolve(agentId, bob)).rejects.toMatchObject(notFound);
    await expect(resolve(ABSENT)).rejects.toMatchObject(notFound);
    await expect(resolve('nonsense')).rejects.toMatchObject(notFound);
  });
});
