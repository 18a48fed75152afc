import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TRANSPORTS } from '../../support/context.ts';
import {
  AGENT,
  type DeploymentsSystem,
  NO_SCHEDULE,
  OTHER_AGENT,
  OWNER,
  openDeploymentsSystem,
  referenceTo,
  STRANGER,
} from './system.ts';

const userNamed = (letter: string, roles = ['member']) => ({
  caller: { userId: `usr_${letter.repeat(26)}`, roles },
});
const manager = userNamed('M');
const user = userNamed('U');
const administrator = userNamed('A', ['administrator']);
const owner = { caller: OWNER };
const stranger = { caller: STRANGER };

describe.each(TRANSPORTS)('deployments of a shared agent, %s', (transport) => {
  let system: DeploymentsSystem;
  let deploymentId: string;
  /** Deployments of the current test. */
  const created = new Set<string>();

  beforeAll(async () => {
    system = await openDeploymentsSystem(transport);
  });
  afterAll(() => system[Symbol.asyncDispose]());
  beforeEach(async () => {
    system.reset();
    created.clear();
    const agent = system.fakes.agents.get(AGENT);
    if (!agent) throw new Error('there is no agent');
    system.fakes.agents.set(AGENT, {
      ...agent,
      managers: [manager.caller.userId],
      users: [user.caller.userId],
    });
    deploymentId = await create(owner);
  });

  async function create(who: typeof owner, agentId = AGENT): Promise<string> {
    const request = { agentId, type: 'webhook', promptPrefix: undefined, ...NO_SCHEDULE, idempotencyKey: '' };
    const { deployment } = await system.edge.createDeployment(request, who);
    created.add(deployment?.deploymentId ?? '');
    return deployment?.deploymentId ?? '';
  }

  async function listIds(who: typeof owner, agentId = '', limit = 100): Promise<string[]> {
    const ids: string[] = [];
    for (let cursor = ''; ; ) {
      const request = { page: { limit, cursor }, agentId, q: '', type: '', status: '' };
      const { deployments, page } = await system.edge.listDeployments(request, who);
      ids.push(...deployments.map((deployment) => deployment.deploymentId));
      cursor = page?.nextCursor ?? '';
      if (cursor === '') return ids.filter((id) => created.has(id));
    }
  }

  const requests: [string, (who: typeof owner) => Promise<unknown>][] = [
    ['reads', (who) => system.edge.getDeployment({ agentId: AGENT, deploymentId }, who)],
    ['disables', (who) => system.edge.disableDeployment({ agentId: AGENT, deploymentId }, who)],
    ['enables', (who) => system.edge.enableDeployment({ agentId: AGENT, deploymentId }, who)],
    [
      'reads the calls of',
      (who) => system.edge.listInvocations({ agentId: AGENT, deploymentId, page: undefined }, who),
    ],
    ['deletes', (who) => system.edge.deleteDeployment(referenceTo({ agentId: AGENT, deploymentId }), who)],
  ];

  it.each(requests)('a manager of the agent %s a deployment of another user', async (_, request) => {
    await request(manager);
  });

  it.each(requests)('an administrator %s a deployment of another user', async (_, request) => {
    await request(administrator);
  });

  it.each(requests)('only an administrator %s a deployment whose agent is deleted', async (_, request) => {
    system.fakes.agents.delete(AGENT);
    await expect(request(manager)).rejects.toMatchObject({ code: 'DEPLOYMENT_NOT_FOUND' });
    expect(await listIds(administrator)).toContain(deploymentId);
    await request(administrator);
  });

  it.each(requests)(
    'a user without the right to manage the agent gets DEPLOYMENT_NOT_FOUND: %s',
    async (_, request) => {
      for (const who of [user, stranger])
        await expect(request(who)).rejects.toMatchObject({ code: 'DEPLOYMENT_NOT_FOUND' });
      expect(
        (await system.edge.getDeployment({ agentId: AGENT, deploymentId }, owner)).deployment,
      ).toMatchObject({
        status: 'enabled',
      });
    },
  );

  it('writes audit entries for changes, and for reads by administrators', async () => {
    const { auditLog } = system.fakes;
    auditLog.takeActs();
    const request = Object.fromEntries(requests);
    const who = owner.caller.userId;
    for (const name of ['reads', 'reads the calls of']) await request[name]?.(owner);
    expect(auditLog.takeActs()).toEqual([]);
    for (const name of ['disables', 'enables', 'deletes']) await request[name]?.(owner);
    expect(auditLog.takeActs()).toEqual(
      ['disable', 'enable', 'delete'].map((act) => `${who} deployment.${act} ${deploymentId}`),
    );
    deploymentId = await create(owner);
    expect(auditLog.takeActs()).toEqual([`${who} deployment.create ${deploymentId}`]);
    for (const name of ['reads', 'reads the calls of']) await request[name]?.(administrator);
    await listIds(administrator, AGENT);
    const { userId } = administrator.caller;
    const look = `${userId} deployment.look ${deploymentId}`;
    expect(auditLog.takeActs()).toEqual([look, look, `${userId} deployments.list ${AGENT}`]);
  });

  it.each(requests)(
    'returns DEPENDENCY_UNAVAILABLE when the audit entry cannot be written: %s',
    async (name, request) => {
      system.fakes.auditLog.failsToRecord = true;
      try {
        await expect(request(administrator), name).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
      } finally {
        system.fakes.auditLog.failsToRecord = false;
      }
      const { deployment } = await system.edge.getDeployment({ agentId: AGENT, deploymentId }, owner);
      expect(deployment).toMatchObject({ status: 'enabled' });
    },
  );

  it('only managers of the agent create deployments', async () => {
    await create(manager);
    await create(administrator);
    await expect(create(user)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(create(stranger)).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
  });

  it('lists own deployments and those of managed agents, page by page', async () => {
    const others = await create(owner, OTHER_AGENT);
    const managers = await create(manager);
    const administrators = await create(administrator);
    const ofAgent = [administrators, managers, deploymentId];
    expect(await listIds(manager)).toEqual(ofAgent);
    expect(await listIds(manager, '', 1)).toEqual(ofAgent);
    expect(await listIds(manager, AGENT, 2)).toEqual(ofAgent);
    expect(await listIds(owner)).toEqual([administrators, managers, others, deploymentId]);
    expect(await listIds(administrator)).toEqual([administrators, managers, others, deploymentId]);
    expect(await listIds(user)).toEqual([]);
    expect(await listIds(user, AGENT)).toEqual([]);
  });

  it('keeps a deployment visible to its creator who does not manage the agent any more', async () => {
    const theirs = await create(manager);
    const agent = system.fakes.agents.get(AGENT);
    if (agent) agent.managers = [];
    expect(await listIds(manager)).toEqual([theirs]);
    await system.edge.deleteDeployment(referenceTo({ agentId: AGENT, deploymentId: theirs }), manager);
    expect(await listIds(owner)).toEqual([deploymentId]);
  });

  it('returns INVALID_CURSOR for the cursor of another user', async () => {
    await create(owner);
    const request = { agentId: '', q: '', type: '', status: '' };
    const { page } = await system.edge.listDeployments({ ...request, page: { limit: 1, cursor: '' } }, owner);
    const theirs = { ...request, page: { limit: 1, cursor: page?.nextCursor ?? '' } };
    await expect(system.edge.listDeployments(theirs, manager)).rejects.toMatchObject({
      code: 'INVALID_CURSOR',
    });
  });
});
