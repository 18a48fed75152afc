import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Access } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { assistantChange, assistantRequest } from './assistants.ts';
import {
  type AgentsSystem,
  administrator,
  alice,
  bob,
  change,
  createAgent,
  openAgentsSystem,
} from './system.ts';

const page = undefined;
const NOBODY = `usr_${'Z'.repeat(26)}`;
const BLUE = { caller: { userId: `usr_${'C'.repeat(26)}`, roles: ['member'], groups: ['red', 'blue'] } };

const nobodyElse: Access = { visibility: 'private', managers: [], users: [], groups: [] };

describe.each(TRANSPORTS)('sharing agents, %s', (transport) => {
  let agents: AgentsSystem;
  let agentId: string;

  beforeAll(async () => {
    agents = await openAgentsSystem(transport, { userExists: (userId) => userId !== NOBODY });
  });
  afterAll(() => agents[Symbol.asyncDispose]());
  beforeEach(async () => {
    agentId = await createAgent(agents);
  });

  const share = (access: Partial<Access>, by: object = alice) =>
    agents.edge.setAgentAccess({ agentId, access: { ...nobodyElse, ...access } }, by);
  const levelOf = async (who: object) => (await agents.as('sessions').getLevel({ agentId }, who)).level;
  const listOf = async (who: object) =>
    (await agents.edge.listAgents({ page: { limit: 100, cursor: '' }, q: agentId }, who)).agents;
  const start = (who: object) => agents.as('sessions').resolveAgent({ agentId }, who);

  describe('SetAgentAccess', () => {
    it('returns the stored access list without repeated names', async () => {
      const access = {
        visibility: 'allowlist',
        managers: [bob.caller.userId, bob.caller.userId],
        users: [BLUE.caller.userId],
        groups: ['blue', 'green', 'blue'],
      };
      const once = { ...access, managers: [bob.caller.userId], groups: ['blue', 'green'] };
      expect(await share(access)).toEqual({ access: once, version: 2 });
      expect(await agents.edge.getAgentAccess({ agentId }, alice)).toEqual({ access: once, version: 2 });
    });

    it('replaces the whole access list', async () => {
      await share({ visibility: 'allowlist', users: [bob.caller.userId], groups: ['blue'] });
      expect(await share({})).toEqual({ access: nobodyElse, version: 3 });
      expect([await levelOf(bob), await levelOf(BLUE)]).toEqual(['none', 'none']);
    });

    it('refuses an outdated if_version with VERSION_CONFLICT', async () => {
      const open = { ...nobodyElse, visibility: 'public' };
      await agents.edge.setAgentAccess({ agentId, access: open, ifVersion: 1 }, alice);
      const late = agents.edge.setAgentAccess({ agentId, access: nobodyElse, ifVersion: 1 }, alice);
      await expect(late).rejects.toMatchObject({ code: 'VERSION_CONFLICT' });
      expect(await agents.edge.getAgentAccess({ agentId }, alice)).toEqual({ access: open, version: 2 });
    });

    it('applies one of several concurrent changes with the same if_version', async () => {
      const outcomes = await Promise.allSettled(
        Array.from({ length: 5 }, () =>
          agents.edge.setAgentAccess({ agentId, access: nobodyElse, ifVersion: 1 }, alice),
        ),
      );
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    });

    it('makes no new version of the agent', async () => {
      await share({ visibility: 'public' });
      const { agent } = await agents.edge.getAgent({ agentId }, alice);
      expect(agent).toMatchObject({ version: 1, visibility: 'public' });
    });

    it.each<[string, Partial<Access>, string]>([
      ['an unknown visibility', { visibility: 'secret' }, '/visibility'],
      ['a malformed user id', { users: ['me'] }, '/users/0'],
      ['a user who has never logged in', { users: [BLUE.caller.userId, NOBODY] }, '/users/1'],
      ['a manager who has never logged in', { managers: [NOBODY] }, '/managers/0'],
      ['a group without a name', { groups: ['blue', ''] }, '/groups/1'],
      ['a group name that cannot be stored', { groups: ['a\u0000'] }, '/groups/0'],
      ['201 groups', { groups: Array.from({ length: 201 }, (_, index) => `${index}`) }, '/groups'],
    ])('refuses %s, and changes nothing', async (_, access, pointer) => {
      await share({ visibility: 'public' });
      await expect(share(access)).rejects.toMatchObject({ details: [{ pointer }] });
      expect((await agents.edge.getAgentAccess({ agentId }, alice)).access).toMatchObject({
        visibility: 'public',
      });
    });
  });

  describe('a private agent', () => {
    it('is accessible to its owner and administrators only', async () => {
      const levels = await Promise.all([alice, bob, BLUE, administrator].map(levelOf));
      expect(levels).toEqual(['manage', 'none', 'none', 'manage']);
      expect(await listOf(administrator)).toMatchObject([{ agentId, level: 'manage' }]);
    });

    it('is hidden from listed users and groups until its visibility is allowlist', async () => {
      await share({ users: [bob.caller.userId], groups: ['blue'] });
      expect([await levelOf(bob), await levelOf(BLUE)]).toEqual(['none', 'none']);
    });
  });

  describe.each<[string, Partial<Access>, object]>([
    ['all users', { visibility: 'public' }, bob],
    ['a user', { visibility: 'allowlist', users: [bob.caller.userId] }, bob],
    ['a group', { visibility: 'allowlist', groups: ['blue'] }, BLUE],
  ])('an agent for %s', (_, access, who) => {
    beforeEach(() => share(access));

    it('is visible, listed and usable', async () => {
      expect(await agents.edge.getAgent({ agentId }, who)).toMatchObject({
        agent: { agentId, level: 'use' },
      });
      expect(await listOf(who)).toMatchObject([{ agentId, level: 'use' }]);
      expect(await start(who)).toEqual({ agentId, version: 1 });
      expect(await agents.edge.listAgentVersions({ agentId, page }, who)).toMatchObject({
        versions: [{ version: 1 }],
      });
    });

    it.each<[string, () => Promise<unknown>]>([
      ['changed', () => agents.edge.updateAgent(change(agentId, { name: 'Mine' }), who)],
      ['deleted', () => agents.edge.deleteAgent({ agentId }, who)],
      ['shared', () => share({ visibility: 'public' }, who)],
      ['read for its access list', () => agents.edge.getAgentAccess({ agentId }, who)],
    ])('returns FORBIDDEN when they try: it cannot be %s', async (__, ask) => {
      await expect(ask()).rejects.toMatchObject({ code: 'FORBIDDEN' });
    });

    it('can be looked up by id and is not among their managed agents', async () => {
      const deployments = agents.as('deployments');
      const byId = await deployments.lookUpAgents({ agentIds: [agentId], nameContains: '' }, who);
      expect(byId.agents).toMatchObject([{ agentId }]);
      const byName = await deployments.lookUpAgents({ agentIds: [], nameContains: 'ech' }, who);
      expect(byName.agents.map((agent) => agent.agentId)).not.toContain(agentId);
      expect((await deployments.listManagedAgents({}, who)).agentIds).not.toContain(agentId);
    });

    it('is hidden again when it becomes private', async () => {
      await share({});
      await expect(agents.edge.getAgent({ agentId }, who)).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
      await expect(start(who)).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
      expect(await listOf(who)).toEqual([]);
    });

    it('is hidden after its deletion', async () => {
      await agents.edge.deleteAgent({ agentId }, alice);
      expect(await levelOf(who)).toBe('none');
      expect(await listOf(who)).toEqual([]);
    });
  });

  it('compares group names exactly', async () => {
    await share({ visibility: 'allowlist', groups: ['blu', 'BLUE', BLUE.caller.userId, 'blue '] });
    expect(await levelOf(BLUE)).toBe('none');
  });

  it('does not treat a group with the name of a user id as that user', async () => {
    await share({ visibility: 'allowlist', users: [bob.caller.userId] });
    const posing = { caller: { ...BLUE.caller, groups: [bob.caller.userId, `group:${bob.caller.userId}`] } };
    expect(await levelOf(posing)).toBe('none');
  });

  it('gives managers the rights of the owner', async () => {
    await share({ managers: [bob.caller.userId] });
    expect(await levelOf(bob)).toBe('manage');
    const { agent } = await agents.edge.updateAgent(change(agentId, { system: 'Be brief.' }), bob);
    expect(agent).toMatchObject({ version: 2, createdBy: alice.caller.userId, level: 'manage' });
    const { versions } = await agents.edge.listAgentVersions({ agentId, page }, alice);
    expect(versions.map(({ createdBy }) => createdBy)).toEqual([bob.caller.userId, alice.caller.userId]);
    expect((await agents.as('deployments').listManagedAgents({}, bob)).agentIds).toContain(agentId);
    expect((await agents.as('deployments').listManagedAgents({}, administrator)).agentIds).toContain(agentId);
    expect(
      await agents.as('deployments').lookUpAgents({ agentIds: [], nameContains: 'ech' }, bob),
    ).toMatchObject({
      agents: expect.arrayContaining([expect.objectContaining({ agentId })]),
    });
    await agents.edge.deleteAgent({ agentId }, bob);
    await expect(agents.edge.getAgent({ agentId }, alice)).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
  });

  it('keeps the access of the owner regardless of the access list', async () => {
    await share({ managers: [bob.caller.userId] });
    await share({}, bob);
    expect([await levelOf(alice), await levelOf(bob)]).toEqual(['manage', 'none']);
  });

  it('lists an agent once even if it is visible for several reasons', async () => {
    const carol = { caller: { userId: `usr_${'D'.repeat(26)}`, roles: ['member'], groups: ['violet'] } };
    const expected: string[] = [];
    for (let count = 0; count < 12; count++) {
      agentId = await createAgent(agents, { name: `Paged ${count}` }, count % 4 === 0 ? carol : alice);
      if (count % 4 === 1) await share({ visibility: 'public', managers: [carol.caller.userId] });
      if (count % 4 === 2)
        await share({ visibility: 'allowlist', users: [carol.caller.userId], groups: ['violet'] });
      if (count % 4 !== 3) expected.unshift(agentId);
    }
    const seen: string[] = [];
    for (let cursor = ''; ; ) {
      const answer = await agents.edge.listAgents({ page: { limit: 4, cursor }, q: 'Paged' }, carol);
      seen.push(...answer.agents.map((agent) => agent.agentId));
      cursor = answer.page?.nextCursor ?? '';
      if (cursor === '') break;
    }
    expect(seen).toEqual(expected);
  });

  it('records accesses of administrators to agents of others, and fails when the audit log is unavailable', async () => {
    const { auditLog, edge } = agents;
    const who = administrator.caller.userId;
    const acts: [string, () => Promise<unknown>][] = [
      [`agent.look ${agentId}`, () => edge.getAgent({ agentId }, administrator)],
      [`agent.look ${agentId}`, () => edge.listAgentVersions({ agentId, page }, administrator)],
      [`agent.look ${agentId}`, () => edge.getAgentAccess({ agentId }, administrator)],
      ['agents.list ', () => edge.listAgents({ q: agentId, page }, administrator)],
      [`agent.update ${agentId}`, () => edge.updateAgent(change(agentId, { name: 'Other' }), administrator)],
      [`agent.share ${agentId}`, () => share({ visibility: 'public' }, administrator)],
      [`agent.delete ${agentId}`, () => edge.deleteAgent({ agentId }, administrator)],
    ];
    for (const [act, ask] of acts) {
      auditLog.takeActs();
      auditLog.failsToRecord = true;
      await expect(ask(), act).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
      auditLog.failsToRecord = false;
      await ask();
      expect(auditLog.takeActs()).toEqual([`${who} ${act}`]);
    }
  });

  it('records only access changes of owners', async () => {
    agents.auditLog.takeActs();
    await agents.edge.getAgent({ agentId }, alice);
    await agents.edge.updateAgent(change(agentId, { name: 'Mine' }), alice);
    await listOf(alice);
    expect(agents.auditLog.takeActs()).toEqual([]);
    await share({ groups: ['blue'] });
    expect(agents.auditLog.takeActs()).toEqual([`${alice.caller.userId} agent.share ${agentId}`]);
  });

  it('records every way in which owners share an agent', async () => {
    const { auditLog, edge } = agents;
    const who = alice.caller.userId;
    const open = () => edge.updateAgent(change(agentId, { visibility: 'public' }), alice);
    auditLog.takeActs();
    auditLog.failsToRecord = true;
    await expect(open()).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
    await expect(createAgent(agents, { visibility: 'public' })).rejects.toMatchObject({
      code: 'DEPENDENCY_UNAVAILABLE',
    });
    auditLog.failsToRecord = false;
    expect(await levelOf(bob)).toBe('none');
    await open();
    expect(await levelOf(bob)).toBe('use');
    expect(auditLog.takeActs()).toEqual([`${who} agent.share ${agentId}`]);
    const another = await createAgent(agents, { visibility: 'public' });
    expect(auditLog.takeActs()).toEqual([`${who} agent.share ${another}`]);
    // A user who cannot change the agent has not shared it.
    const theirs = edge.updateAgent(change(agentId, { visibility: 'private' }), bob);
    await expect(theirs).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(auditLog.takeActs()).toEqual([]);
  });

  it('hides an assistant from other users except administrators', async () => {
    const { assistant } = await agents.edge.createAssistant(assistantRequest(), alice);
    agentId = assistant?.assistantId ?? '';
    expect(await Promise.all([alice, bob, administrator].map(levelOf))).toEqual(['manage', 'none', 'see']);
    await expect(agents.edge.getAssistant({ assistantId: agentId }, bob)).rejects.toMatchObject({
      code: 'ASSISTANT_NOT_FOUND',
    });
    expect(await agents.edge.getAssistant({ assistantId: agentId }, administrator)).toMatchObject({
      assistant: { name: 'Helper' },
    });
    for (const send of [
      () => agents.edge.updateAssistant(assistantChange(agentId, { name: 'Mine' }), administrator),
      () => agents.edge.deleteAssistant({ assistantId: agentId }, administrator),
      () => start(administrator),
    ])
      await expect(send()).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect((await agents.edge.listAssistants({ page, q: '' }, administrator)).assistants).toEqual([]);
    await expect(share({ visibility: 'public' })).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
  });
});
