import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeCursor } from '../../../lib/db/cursor.ts';
import { TRANSPORTS } from '../../support/context.ts';
import {
  ABSENT,
  type AgentsUnderTest,
  alice,
  bob,
  change,
  created,
  openAgentsUnderTest,
  RUNTIME,
} from './open.ts';

describe.each(TRANSPORTS)('ListAgentVersions and GetAgentVersion, %s', (transport) => {
  let agents: AgentsUnderTest;
  let agentId: string;

  beforeAll(async () => {
    agents = await openAgentsUnderTest(transport);
    agentId = await created(agents, { runtime: { ...RUNTIME, system: 'version 1' } });
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

  it('shows of a version what it was', async () => {
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
    expect(await version(3)).toEqual({ version: versions.at(-3) });
  });

  it('ends a page early rather than send more than a message holds', async () => {
    const id = await created(agents, { runtime: { ...RUNTIME, system: 's'.repeat(256 * 1024) } });
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

  it('refuses a cursor of another agent, another caller or no list at all', async () => {
    const { page } = await list({ limit: 1, cursor: '' });
    const cursor = page?.nextCursor ?? '';
    const other = await created(agents);
    const refused = { code: 'INVALID_CURSOR' };
    await expect(list({ limit: 1, cursor }, other)).rejects.toMatchObject(refused);
    await expect(list({ limit: 1, cursor: 'x' })).rejects.toMatchObject(refused);
    for (const key of ['0', '-1', 'one', '99999999999', '1 or 1=1']) {
      const forged = encodeCursor(['ListAgentVersions', alice.caller.userId, agentId], key);
      await expect(list({ limit: 1, cursor: forged })).rejects.toMatchObject(refused);
    }
  });

  it("lists neither an absent agent's versions nor somebody else's", async () => {
    const refused = { code: 'AGENT_NOT_FOUND' };
    await expect(list(undefined, ABSENT)).rejects.toMatchObject(refused);
    await expect(list(undefined, agentId, bob)).rejects.toMatchObject(refused);
  });

  it('refuses a version that the agent does not have', async () => {
    const refused = { code: 'AGENT_VERSION_NOT_FOUND' };
    await expect(version(12)).rejects.toMatchObject(refused);
    await expect(version(-1)).rejects.toMatchObject(refused);
    await expect(version(0, ABSENT)).rejects.toMatchObject(refused);
    await expect(version(1, ABSENT)).rejects.toMatchObject(refused);
    await expect(version(1, 'nonsense')).rejects.toMatchObject(refused);
  });

  it('gives the newest version for the number 0', async () => {
    expect(await version(0)).toEqual(await version(11));
    await expect(version(0, agentId, bob)).rejects.toMatchObject({ code: 'AGENT_VERSION_NOT_FOUND' });
  });

  it('gives a version to the runner for nobody in particular, but not for somebody else', async () => {
    expect(await version(1, agentId, alice)).toEqual(await version(1));
    await expect(version(1, agentId, bob)).rejects.toMatchObject({ code: 'AGENT_VERSION_NOT_FOUND' });
  });
});
