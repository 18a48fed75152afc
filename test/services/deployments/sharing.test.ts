import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TRANSPORTS } from '../../support/context.ts';
import { AGENT, type House, OTHER_AGENT, OWNER, openHouse, STRANGER } from './house.ts';

const userNamed = (letter: string, roles = ['member']) => ({
  caller: { userId: `usr_${letter.repeat(26)}`, roles },
});
const manager = userNamed('M');
const user = userNamed('U');
const administrator = userNamed('A', ['administrator']);
const owner = { caller: OWNER };
const stranger = { caller: STRANGER };

describe.each(TRANSPORTS)('deployments of an agent that is shared, %s', (transport) => {
  let house: House;
  let deploymentId: string;
  /** Those of this test. */
  const made = new Set<string>();

  beforeAll(async () => {
    house = await openHouse(transport);
  });
  afterAll(() => house[Symbol.asyncDispose]());
  beforeEach(async () => {
    house.reset();
    made.clear();
    const agent = house.neighbours.agents.get(AGENT);
    if (!agent) throw new Error('there is no agent');
    house.neighbours.agents.set(AGENT, {
      ...agent,
      managers: [manager.caller.userId],
      users: [user.caller.userId],
    });
    deploymentId = await created(owner);
  });

  async function created(who: typeof owner, agentId = AGENT): Promise<string> {
    const request = { agentId, type: 'webhook', promptPrefix: undefined, idempotencyKey: '' };
    const { deployment } = await house.edge.createDeployment(request, who);
    made.add(deployment?.deploymentId ?? '');
    return deployment?.deploymentId ?? '';
  }

  async function listed(who: typeof owner, agentId = '', limit = 100): Promise<string[]> {
    const ids: string[] = [];
    for (let cursor = ''; ; ) {
      const request = { page: { limit, cursor }, agentId, q: '', type: '', status: '' };
      const { deployments, page } = await house.edge.listDeployments(request, who);
      ids.push(...deployments.map((one) => one.deploymentId));
      cursor = page?.nextCursor ?? '';
      if (cursor === '') return ids.filter((id) => made.has(id));
    }
  }

  const asks: [string, (who: typeof owner) => Promise<unknown>][] = [
    ['reads', (who) => house.edge.getDeployment({ agentId: AGENT, deploymentId }, who)],
    ['disables', (who) => house.edge.disableDeployment({ agentId: AGENT, deploymentId }, who)],
    ['enables', (who) => house.edge.enableDeployment({ agentId: AGENT, deploymentId }, who)],
    [
      'reads the calls of',
      (who) => house.edge.listInvocations({ agentId: AGENT, deploymentId, page: undefined }, who),
    ],
    ['deletes', (who) => house.edge.deleteDeployment({ agentId: AGENT, deploymentId }, who)],
  ];

  it.each(asks)('who manages it %s what others have made', async (_, ask) => {
    await ask(manager);
  });

  it.each(asks)('an administrator %s them', async (_, ask) => {
    await ask(administrator);
  });

  it.each(asks)('an administrator %s them when the agent is deleted, and nobody else', async (_, ask) => {
    house.neighbours.agents.delete(AGENT);
    await expect(ask(manager)).rejects.toMatchObject({ code: 'DEPLOYMENT_NOT_FOUND' });
    expect(await listed(administrator)).toContain(deploymentId);
    await ask(administrator);
  });

  it.each(asks)('nobody %s them who only uses it, or does not even know it', async (_, ask) => {
    for (const who of [user, stranger])
      await expect(ask(who)).rejects.toMatchObject({ code: 'DEPLOYMENT_NOT_FOUND' });
    expect(
      (await house.edge.getDeployment({ agentId: AGENT, deploymentId }, owner)).deployment,
    ).toMatchObject({
      status: 'enabled',
    });
  });

  it('what is done with them is written down, and what administrators see of others', async () => {
    const { ledger } = house.neighbours;
    ledger.take();
    const ask = Object.fromEntries(asks);
    const who = owner.caller.userId;
    for (const name of ['reads', 'reads the calls of']) await ask[name]?.(owner);
    expect(ledger.take()).toEqual([]);
    for (const name of ['disables', 'enables', 'deletes']) await ask[name]?.(owner);
    expect(ledger.take()).toEqual(
      ['disable', 'enable', 'delete'].map((act) => `${who} deployment.${act} ${deploymentId}`),
    );
    deploymentId = await created(owner);
    expect(ledger.take()).toEqual([`${who} deployment.create ${deploymentId}`]);
    for (const name of ['reads', 'reads the calls of']) await ask[name]?.(administrator);
    await listed(administrator, AGENT);
    const { userId } = administrator.caller;
    const look = `${userId} deployment.look ${deploymentId}`;
    expect(ledger.take()).toEqual([look, look, `${userId} deployments.list ${AGENT}`]);
  });

  it.each(asks)('nobody %s them when it cannot be written down', async (name, ask) => {
    house.neighbours.ledger.isClosed = true;
    try {
      await expect(ask(administrator), name).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
    } finally {
      house.neighbours.ledger.isClosed = false;
    }
    const { deployment } = await house.edge.getDeployment({ agentId: AGENT, deploymentId }, owner);
    expect(deployment).toMatchObject({ status: 'enabled' });
  });

  it('is deployed by who manages it alone', async () => {
    await created(manager);
    await created(administrator);
    await expect(created(user)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(created(stranger)).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
  });

  it('lists to everybody what they have made and what they manage, page by page', async () => {
    const others = await created(owner, OTHER_AGENT);
    const managers = await created(manager);
    const administrators = await created(administrator);
    const ofAgent = [administrators, managers, deploymentId];
    expect(await listed(manager)).toEqual(ofAgent);
    expect(await listed(manager, '', 1)).toEqual(ofAgent);
    expect(await listed(manager, AGENT, 2)).toEqual(ofAgent);
    expect(await listed(owner)).toEqual([administrators, managers, others, deploymentId]);
    expect(await listed(administrator)).toEqual([administrators, managers, others, deploymentId]);
    expect(await listed(user)).toEqual([]);
    expect(await listed(user, AGENT)).toEqual([]);
  });

  it('stays with who has made it when they manage the agent no longer', async () => {
    const theirs = await created(manager);
    const agent = house.neighbours.agents.get(AGENT);
    if (agent) agent.managers = [];
    expect(await listed(manager)).toEqual([theirs]);
    await house.edge.deleteDeployment({ agentId: AGENT, deploymentId: theirs }, manager);
    expect(await listed(owner)).toEqual([deploymentId]);
  });

  it('gives nobody a cursor that is good for somebody else', async () => {
    await created(owner);
    const request = { agentId: '', q: '', type: '', status: '' };
    const { page } = await house.edge.listDeployments({ ...request, page: { limit: 1, cursor: '' } }, owner);
    const theirs = { ...request, page: { limit: 1, cursor: page?.nextCursor ?? '' } };
    await expect(house.edge.listDeployments(theirs, manager)).rejects.toMatchObject({
      code: 'INVALID_CURSOR',
    });
  });
});
