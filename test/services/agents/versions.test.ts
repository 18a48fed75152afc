import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeCursor } from '../../../lib/db/cursor.ts';
import { TRANSPORTS } from '../../support/context.ts';
import {
  ABSENT,
  type AgentsSystem,
  alice,
  bob,
  change,
  createAgent,
  openAgentsSystem,
  RUNTIME,
} from './system.ts';

describe.each(TRANSPORTS)('ListAgentVersions and GetAgentVersion, %s', (transport) => {
  let agents: AgentsSystem;
  let agentId: string;

  beforeAll(async () => {
    agents = await openAgentsSystem(transport);
    agentId = await createAgent(agents, { runtime: { ...RUNTIME, system: 'version 1' } });
    for (let version = 2; version <= 11; version++) {
      await agents.edge.updateAgent(change(agentId, { system: `version ${version}` }), alice);
    }
  });
  afterAll(() => agents[Symbol.asyncDispose]());

  const list = (page: { limit: number; cursor: string } | undefined, id = agentId, by = alice) =>
    agents.edge.listAgentVersions({ agentId: id, page }, by);
  const version = (number: number, id = agentId, options = {}) =>
    agents.as('runner').getAgentVersion({ agentId: id, version: number }, options);

  it('lists every version once, newest first', async () => {
    const seen: number[] = [];
    let cursor = '';
    do {
      const answer = await list({ limit: 4, cursor });
      seen.push(...answer.versions.map((one) => one.version));
      cursor = answer.page?.nextCursor ?? '';
    } while (cursor !== '');
    expect(seen).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
  });

  it('returns every version as it was made', async () => {
    const { versions } = await list(undefined);
    expect(versions.at(-3)).toEqual({
      agentId,
      version: 3,
      runtime: {
        ...RUNTIME,
        system: 'version 3',
        budget: { maxTokens: undefined, maxTurnSeconds: undefined },
      },
      createdBy: alice.caller.userId,
      createdAt: expect.any(Date),
    });
    expect(await version(3)).toEqual({ version: versions.at(-3), agentName: 'Echo' });
  });

  it('ends a page early to stay below the message size limit', async () => {
    const id = await createAgent(agents, { runtime: { ...RUNTIME, system: 's'.repeat(256 * 1024) } });
    for (let number = 2; number <= 20; number++) {
      await agents.edge.updateAgent(change(id, { maxSteps: number }), alice);
    }
    const first = await list({ limit: 100, cursor: '' }, id);
    const second = await list({ limit: 100, cursor: first.page?.nextCursor ?? '' }, id);
    expect(first.versions.length).toBeLessThan(20);
    expect([...first.versions, ...second.versions].map((one) => one.version)).toEqual(
      Array.from({ length: 20 }, (_, index) => 20 - index),
    );
  });

  it('refuses a cursor of another agent, another caller or an invalid one', async () => {
    const { page } = await list({ limit: 1, cursor: '' });
    const cursor = page?.nextCursor ?? '';
    const other = await createAgent(agents);
    const refused = { code: 'INVALID_CURSOR' };
    await expect(list({ limit: 1, cursor }, other)).rejects.toMatchObject(refused);
    await expect(list({ limit: 1, cursor: 'x' })).rejects.toMatchObject(refused);
    for (const key of ['0', '-1', 'one', '99999999999', '1 or 1=1']) {
      const forged = encodeCursor(['ListAgentVersions', alice.caller.userId, agentId], key);
      await expect(list({ limit: 1, cursor: forged })).rejects.toMatchObject(refused);
    }
  });

  it('returns AGENT_NOT_FOUND for an absent agent and for one of another user', async () => {
    const refused = { code: 'AGENT_NOT_FOUND' };
    await expect(list(undefined, ABSENT)).rejects.toMatchObject(refused);
    await expect(list(undefined, agentId, bob)).rejects.toMatchObject(refused);
  });

  it('returns AGENT_VERSION_NOT_FOUND for an unknown version', async () => {
    const refused = { code: 'AGENT_VERSION_NOT_FOUND' };
    await expect(version(12)).rejects.toMatchObject(refused);
    await expect(version(-1)).rejects.toMatchObject(refused);
    await expect(version(0, ABSENT)).rejects.toMatchObject(refused);
    await expect(version(1, ABSENT)).rejects.toMatchObject(refused);
    await expect(version(1, 'nonsense')).rejects.toMatchObject(refused);
  });

  it('returns the newest version for the number 0', async () => {
    expect(await version(0)).toEqual(await version(11));
    await expect(version(0, agentId, bob)).rejects.toMatchObject({ code: 'AGENT_VERSION_NOT_FOUND' });
  });

  it('returns a version to a runner without a user, and not on behalf of another user', async () => {
    expect(await version(1, agentId, alice)).toEqual(await version(1));
    await expect(version(1, agentId, bob)).rejects.toMatchObject({ code: 'AGENT_VERSION_NOT_FOUND' });
  });
});
