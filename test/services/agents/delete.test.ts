import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLocalBus } from '../../../lib/bus/local.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { ABSENT, type AgentsUnderTest, alice, bob, change, created, openAgentsUnderTest } from './open.ts';

describe.each(TRANSPORTS)('DeleteAgent and ResolveAgent, %s', (transport) => {
  let agents: AgentsUnderTest;
  const told: string[] = [];

  beforeAll(async () => {
    const bus = createLocalBus();
    bus.subscribe('agents.changed', (agentId) => told.push(agentId));
    const settle = async () => void told.push('settled');
    agents = await openAgentsUnderTest(transport, { bus: { ...bus, settle } });
  });
  afterAll(() => agents[Symbol.asyncDispose]());

  const notFound = { code: 'AGENT_NOT_FOUND' };
  const firstPage = { limit: 100, cursor: '' };
  const resolve = (agentId: string, by = alice) => agents.as('sessions').resolveAgent({ agentId }, by);

  it('takes the agent out of every read', async () => {
    const agentId = await created(agents, { name: 'doomed' });
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

  it('leaves its versions to turns that still run', async () => {
    const agentId = await created(agents);
    await agents.edge.updateAgent(change(agentId, { system: 'Two' }), alice);
    await agents.edge.deleteAgent({ agentId }, alice);
    const { version } = await agents.as('runner').getAgentVersion({ agentId, version: 2 });
    expect(version).toMatchObject({ agentId, version: 2, runtime: { system: 'Two' } });
  });

  it('answers after everybody has been told and nobody can trust the old state', async () => {
    const agentId = await created(agents);
    told.length = 0;
    await agents.edge.deleteAgent({ agentId }, alice);
    expect(told).toEqual([agentId, 'settled']);
  });

  it("refuses an absent agent and somebody else's alike, and tells nobody", async () => {
    const agentId = await created(agents);
    told.length = 0;
    await expect(agents.edge.deleteAgent({ agentId }, bob)).rejects.toMatchObject(notFound);
    await expect(agents.edge.deleteAgent({ agentId: ABSENT }, bob)).rejects.toMatchObject(notFound);
    await expect(agents.edge.deleteAgent({ agentId: '\0' }, bob)).rejects.toMatchObject(notFound);
    expect(told).toEqual([]);
    expect(await resolve(agentId)).toEqual({ agentId, version: 1 });
  });

  it('lets exactly one of several deletes succeed', async () => {
    const agentId = await created(agents);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 4 }, () => agents.edge.deleteAgent({ agentId }, alice)),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('resolves to the newest version', async () => {
    const agentId = await created(agents);
    await agents.edge.updateAgent(change(agentId, { system: 'Two' }), alice);
    expect(await resolve(agentId)).toEqual({ agentId, version: 2 });
  });

  it('resolves no disabled agent until it is enabled again', async () => {
    const agentId = await created(agents, { enabled: false });
    await expect(resolve(agentId)).rejects.toMatchObject({ code: 'AGENT_NOT_RUNNABLE' });
    await agents.edge.updateAgent(change(agentId, { enabled: true }), alice);
    expect(await resolve(agentId)).toEqual({ agentId, version: 1 });
  });

  it("resolves neither an absent agent nor somebody else's, disabled or not", async () => {
    const agentId = await created(agents, { enabled: false });
    await expect(resolve(agentId, bob)).rejects.toMatchObject(notFound);
    await expect(resolve(ABSENT)).rejects.toMatchObject(notFound);
    await expect(resolve('nonsense')).rejects.toMatchObject(notFound);
  });
});
