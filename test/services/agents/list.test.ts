import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeCursor } from '../../../lib/db/cursor.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { ABSENT, type AgentsSystem, alice, bob, createAgent, openAgentsSystem, RUNTIME } from './system.ts';

describe.each(TRANSPORTS)('ListAgents and LookUpAgents, %s', (transport) => {
  let agents: AgentsSystem;
  /** Newest first. */
  const names = ['100% sure', 'under_score', 'back\\slash', 'Écho', 'plain', 'first'];
  const ids: string[] = [];

  beforeAll(async () => {
    agents = await openAgentsSystem(transport);
    for (const name of names.toReversed()) {
      ids.unshift(await createAgent(agents, { name, description: name === 'plain' ? 'A Parrot' : '' }));
    }
    await createAgent(agents, { name: 'plain, of another user' }, bob);
  });
  afterAll(() => agents[Symbol.asyncDispose]());

  const list = (q = '', page = { limit: 100, cursor: '' }, by = alice) =>
    agents.edge.listAgents({ q, page }, by);
  const idsOf = async (q: string) => (await list(q)).agents.map((agent) => agent.agentId);
  const idOf = (name: string) => ids[names.indexOf(name)];

  it('lists the agents of the caller, newest first', async () => {
    const { agents: listed, page } = await list();
    expect(listed.map((agent) => agent.name)).toEqual(names);
    expect(page).toEqual({ nextCursor: '' });
    expect(listed[0]).toEqual((await agents.edge.getAgent({ agentId: ids[0]! }, alice)).agent);
  });

  it('lists 50 agents without a page request', async () => {
    expect((await agents.edge.listAgents({ q: '', page: undefined }, alice)).agents).toHaveLength(6);
  });

  it.each([1, 2, 4, 5, 6])('returns every agent exactly once in pages of %i', async (limit) => {
    const seen: string[] = [];
    let cursor = '';
    do {
      const answer = await list('', { limit, cursor });
      expect(answer.agents.length).toBeLessThanOrEqual(limit);
      seen.push(...answer.agents.map((agent) => agent.agentId));
      cursor = answer.page?.nextCursor ?? '';
    } while (cursor !== '');
    expect(seen).toEqual(ids);
  });

  it('continues after the same agent while agents are created and deleted', async () => {
    const first = await list('', { limit: 2, cursor: '' }, alice);
    const newcomer = await createAgent(agents, { name: 'newcomer' });
    await agents.edge.deleteAgent({ agentId: newcomer }, alice);
    const second = await list('', { limit: 2, cursor: first.page?.nextCursor ?? '' });
    expect(second.agents.map((agent) => agent.agentId)).toEqual(ids.slice(2, 4));
  });

  it('finds a part of the name or description in any case, or an id', async () => {
    expect(await idsOf('LAI')).toEqual([idOf('plain')]);
    expect(await idsOf('parrot')).toEqual([idOf('plain')]);
    expect(await idsOf('éch')).toEqual([idOf('Écho')]);
    expect(await idsOf(idOf('first')!)).toEqual([idOf('first')]);
    expect(await idsOf(idOf('first')!.slice(0, -1))).toEqual([]);
  });

  it('searches for wildcard characters literally', async () => {
    expect(await idsOf('0%')).toEqual([idOf('100% sure')]);
    expect(await idsOf('r_s')).toEqual([idOf('under_score')]);
    expect(await idsOf('k\\s')).toEqual([idOf('back\\slash')]);
    expect(await idsOf("' or '1'='1")).toEqual([]);
  });

  it('refuses a cursor of another search, another caller or an invalid one', async () => {
    const { page } = await list('', { limit: 1, cursor: '' });
    const cursor = page?.nextCursor ?? '';
    const refused = { code: 'INVALID_CURSOR' };
    await expect(list('plain', { limit: 1, cursor })).rejects.toMatchObject(refused);
    await expect(list('', { limit: 1, cursor }, bob)).rejects.toMatchObject(refused);
    await expect(list('', { limit: 1, cursor: 'nonsense' })).rejects.toMatchObject(refused);
    const forged = encodeCursor(['ListAgents', alice.caller.userId, ''], '\0');
    await expect(list('', { limit: 1, cursor: forged })).rejects.toMatchObject(refused);
  });

  it.each([0, 101, -1])('refuses the page limit %i', async (limit) => {
    await expect(list('', { limit, cursor: '' })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      details: [{ pointer: '/limit' }],
    });
  });

  it('refuses a search text that is too long or cannot be stored', async () => {
    await expect(list('q'.repeat(201))).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await expect(list('\0')).rejects.toMatchObject({ code: 'INVALID_TEXT' });
  });

  it('ends a page early to stay below the message size limit', async () => {
    const runtime = { ...RUNTIME, system: 's'.repeat(256 * 1024) };
    const large = [];
    for (let index = 0; index < 20; index++)
      large.unshift(await createAgent(agents, { name: 'large', runtime }));
    const first = await list('large');
    expect(first.agents.length).toBeGreaterThan(10);
    expect(first.agents.length).toBeLessThan(20);
    const second = await list('large', { limit: 100, cursor: first.page?.nextCursor ?? '' });
    const seen = [...first.agents, ...second.agents].map((agent) => agent.agentId);
    expect(seen).toEqual(large);
    expect(second.page).toEqual({ nextCursor: '' });
  });

  it('looks up names by id and leaves out agents that the caller cannot see', async () => {
    const theirs = await createAgent(agents, { name: 'theirs' }, bob);
    const agentIds = [idOf('plain')!, theirs, ABSENT, 'nonsense\0', idOf('plain')!];
    const { agents: found } = await agents
      .as('deployments')
      .lookUpAgents({ agentIds, nameContains: '' }, alice);
    expect(found).toEqual([{ agentId: idOf('plain'), name: 'plain' }]);
  });

  it('looks up agents by a part of their name', async () => {
    const lookUp = async (nameContains: string) =>
      (await agents.as('deployments').lookUpAgents({ agentIds: [], nameContains }, alice)).agents;
    expect(await lookUp('PLAI')).toEqual([{ agentId: idOf('plain'), name: 'plain' }]);
    expect(await lookUp('parrot')).toEqual([]);
    expect(await lookUp('_s')).toEqual([{ agentId: idOf('under_score'), name: 'under_score' }]);
    expect(await lookUp('')).toEqual([]);
  });
});
