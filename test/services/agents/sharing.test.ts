import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Access } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { assistantChange, assistantRequest } from './assistants.ts';
import { type AgentsUnderTest, alice, bob, change, created, openAgentsUnderTest, root } from './open.ts';

const page = undefined;
const NOBODY = `usr_${'Z'.repeat(26)}`;
const BLUE = { caller: { userId: `usr_${'C'.repeat(26)}`, roles: ['member'], groups: ['red', 'blue'] } };

const nobodyElse: Access = { visibility: 'private', managers: [], users: [], groups: [] };

describe.each(TRANSPORTS)('sharing agents, %s', (transport) => {
  let agents: AgentsUnderTest;
  let agentId: string;

  beforeAll(async () => {
    agents = await openAgentsUnderTest(transport, { isThere: (userId) => userId !== NOBODY });
  });
  afterAll(() => agents[Symbol.asyncDispose]());
  beforeEach(async () => {
    agentId = await created(agents);
  });

  const share = (access: Partial<Access>, by: object = alice) =>
    agents.edge.setAgentAccess({ agentId, access: { ...nobodyElse, ...access } }, by);
  const levelOf = async (who: object) => (await agents.as('sessions').getLevel({ agentId }, who)).level;
  const listOf = async (who: object) =>
    (await agents.edge.listAgents({ page: { limit: 100, cursor: '' }, q: agentId }, who)).agents;
  const start = (who: object) => agents.as('sessions').resolveAgent({ agentId }, who);

  describe('SetAgentAccess', () => {
    it('answers with what is then read, each name once', async () => {
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

    it('replaces all that was before', async () => {
      await share({ visibility: 'allowlist', users: [bob.caller.userId], groups: ['blue'] });
      expect(await share({})).toEqual({ access: nobodyElse, version: 3 });
      expect([await levelOf(bob), await levelOf(BLUE)]).toEqual(['none', 'none']);
    });

    it('happens only to the version that the caller has seen', async () => {
      const open = { ...nobodyElse, visibility: 'public' };
      await agents.edge.setAgentAccess({ agentId, access: open, ifVersion: 1 }, alice);
      const late = agents.edge.setAgentAccess({ agentId, access: nobodyElse, ifVersion: 1 }, alice);
      await expect(late).rejects.toMatchObject({ code: 'VERSION_CONFLICT' });
      expect(await agents.edge.getAgentAccess({ agentId }, alice)).toEqual({ access: open, version: 2 });
    });

    it('happens once when many have seen the same version', async () => {
      const outcomes = await Promise.allSettled(
        Array.from({ length: 5 }, () =>
          agents.edge.setAgentAccess({ agentId, access: nobodyElse, ifVersion: 1 }, alice),
        ),
      );
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    });

    it('is no new version of the agent', async () => {
      await share({ visibility: 'public' });
      const { agent } = await agents.edge.getAgent({ agentId }, alice);
      expect(agent).toMatchObject({ version: 1, visibility: 'public' });
    });

    it.each<[string, Partial<Access>, string]>([
      ['a visibility that there is not', { visibility: 'secret' }, '/visibility'],
      ['a user who is none', { users: ['me'] }, '/users/0'],
      ['a user who has never logged in', { users: [BLUE.caller.userId, NOBODY] }, '/users/1'],
      ['a manager who has never logged in', { managers: [NOBODY] }, '/managers/0'],
      ['a group without a name', { groups: ['blue', ''] }, '/groups/1'],
      ['a group whose name is no text', { groups: ['a\u0000'] }, '/groups/0'],
      ['too many', { groups: Array.from({ length: 201 }, (_, index) => `${index}`) }, '/groups'],
    ])('refuses %s, and changes nothing', async (_, access, pointer) => {
      await share({ visibility: 'public' });
      await expect(share(access)).rejects.toMatchObject({ details: [{ pointer }] });
      expect((await agents.edge.getAgentAccess({ agentId }, alice)).access).toMatchObject({
        visibility: 'public',
      });
    });
  });

  describe('a private agent', () => {
    it('is its owner’s, and administrators’', async () => {
      const levels = await Promise.all([alice, bob, BLUE, root].map(levelOf));
      expect(levels).toEqual(['manage', 'none', 'none', 'manage']);
      expect(await listOf(root)).toMatchObject([{ agentId, level: 'manage' }]);
    });

    it('is not for users and groups that are listed until it is made for them', async () => {
      await share({ users: [bob.caller.userId], groups: ['blue'] });
      expect([await levelOf(bob), await levelOf(BLUE)]).toEqual(['none', 'none']);
    });
  });

  describe.each<[string, Partial<Access>, object]>([
    ['everybody', { visibility: 'public' }, bob],
    ['a user', { visibility: 'allowlist', users: [bob.caller.userId] }, bob],
    ['a group', { visibility: 'allowlist', groups: ['blue'] }, BLUE],
  ])('an agent for %s', (_, access, who) => {
    beforeEach(() => share(access));

    it('is seen, listed and used', async () => {
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
      ['asked who else may use it', () => agents.edge.getAgentAccess({ agentId }, who)],
    ])('is not %s by them', async (__, ask) => {
      await expect(ask()).rejects.toMatchObject({ code: 'FORBIDDEN' });
    });

    it('has a name for them, and is not among those that they manage', async () => {
      const deployments = agents.as('deployments');
      const byId = await deployments.lookUpAgents({ agentIds: [agentId], nameContains: '' }, who);
      expect(byId.agents).toMatchObject([{ agentId }]);
      const byName = await deployments.lookUpAgents({ agentIds: [], nameContains: 'ech' }, who);
      expect(byName.agents.map((agent) => agent.agentId)).not.toContain(agentId);
      expect((await deployments.listManagedAgents({}, who)).agentIds).not.toContain(agentId);
    });

    it('is gone when it is private again', async () => {
      await share({});
      await expect(agents.edge.getAgent({ agentId }, who)).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
      await expect(start(who)).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
      expect(await listOf(who)).toEqual([]);
    });

    it('is gone when it is deleted', async () => {
      await agents.edge.deleteAgent({ agentId }, alice);
      expect(await levelOf(who)).toBe('none');
      expect(await listOf(who)).toEqual([]);
    });
  });

  it('an agent for a group is not for members of another one of a similar name', async () => {
    await share({ visibility: 'allowlist', groups: ['blu', 'BLUE', BLUE.caller.userId, 'blue '] });
    expect(await levelOf(BLUE)).toBe('none');
  });

  it('a group that is named like a user is not that user', async () => {
    await share({ visibility: 'allowlist', users: [bob.caller.userId] });
    const posing = { caller: { ...BLUE.caller, groups: [bob.caller.userId, `group:${bob.caller.userId}`] } };
    expect(await levelOf(posing)).toBe('none');
  });

  it('a manager does all that the owner does', async () => {
    await share({ managers: [bob.caller.userId] });
    expect(await levelOf(bob)).toBe('manage');
    const { agent } = await agents.edge.updateAgent(change(agentId, { system: 'Be brief.' }), bob);
    expect(agent).toMatchObject({ version: 2, createdBy: alice.caller.userId, level: 'manage' });
    const { versions } = await agents.edge.listAgentVersions({ agentId, page }, alice);
    expect(versions.map(({ createdBy }) => createdBy)).toEqual([bob.caller.userId, alice.caller.userId]);
    expect((await agents.as('deployments').listManagedAgents({}, bob)).agentIds).toContain(agentId);
    expect((await agents.as('deployments').listManagedAgents({}, root)).agentIds).toContain(agentId);
    expect(
      await agents.as('deployments').lookUpAgents({ agentIds: [], nameContains: 'ech' }, bob),
    ).toMatchObject({
      agents: expect.arrayContaining([expect.objectContaining({ agentId })]),
    });
    await agents.edge.deleteAgent({ agentId }, bob);
    await expect(agents.edge.getAgent({ agentId }, alice)).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
  });

  it('an owner cannot be shut out', async () => {
    await share({ managers: [bob.caller.userId] });
    await share({}, bob);
    expect([await levelOf(alice), await levelOf(bob)]).toEqual(['manage', 'none']);
  });

  it('lists what is visible for whatever reason once, newest first, page by page', async () => {
    const carol = { caller: { userId: `usr_${'D'.repeat(26)}`, roles: ['member'], groups: ['violet'] } };
    const wanted: string[] = [];
    for (let count = 0; count < 12; count++) {
      agentId = await created(agents, { name: `Paged ${count}` }, count % 4 === 0 ? carol : alice);
      if (count % 4 === 1) await share({ visibility: 'public', managers: [carol.caller.userId] });
      if (count % 4 === 2)
        await share({ visibility: 'allowlist', users: [carol.caller.userId], groups: ['violet'] });
      if (count % 4 !== 3) wanted.unshift(agentId);
    }
    const seen: string[] = [];
    for (let cursor = ''; ; ) {
      const answer = await agents.edge.listAgents({ page: { limit: 4, cursor }, q: 'Paged' }, carol);
      seen.push(...answer.agents.map((agent) => agent.agentId));
      cursor = answer.page?.nextCursor ?? '';
      if (cursor === '') break;
    }
    expect(seen).toEqual(wanted);
  });

  it('what administrators do with the agents of others is written down, and cannot be done otherwise', async () => {
    const { ledger, edge } = agents;
    const who = root.caller.userId;
    const acts: [string, () => Promise<unknown>][] = [
      [`agent.look ${agentId}`, () => edge.getAgent({ agentId }, root)],
      [`agent.look ${agentId}`, () => edge.listAgentVersions({ agentId, page }, root)],
      [`agent.look ${agentId}`, () => edge.getAgentAccess({ agentId }, root)],
      ['agents.list ', () => edge.listAgents({ q: agentId, page }, root)],
      [`agent.update ${agentId}`, () => edge.updateAgent(change(agentId, { name: 'Other' }), root)],
      [`agent.share ${agentId}`, () => share({ visibility: 'public' }, root)],
      [`agent.delete ${agentId}`, () => edge.deleteAgent({ agentId }, root)],
    ];
    for (const [act, ask] of acts) {
      ledger.take();
      ledger.isClosed = true;
      await expect(ask(), act).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
      ledger.isClosed = false;
      await ask();
      expect(ledger.take()).toEqual([`${who} ${act}`]);
    }
  });

  it('what owners do with their own is not, but for whom they let in', async () => {
    agents.ledger.take();
    await agents.edge.getAgent({ agentId }, alice);
    await agents.edge.updateAgent(change(agentId, { name: 'Mine' }), alice);
    await listOf(alice);
    expect(agents.ledger.take()).toEqual([]);
    await share({ groups: ['blue'] });
    expect(agents.ledger.take()).toEqual([`${alice.caller.userId} agent.share ${agentId}`]);
  });

  it('whom owners let in is written down, in whatever way they say so', async () => {
    const { ledger, edge } = agents;
    const who = alice.caller.userId;
    const open = () => edge.updateAgent(change(agentId, { visibility: 'public' }), alice);
    ledger.take();
    ledger.isClosed = true;
    await expect(open()).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
    await expect(created(agents, { visibility: 'public' })).rejects.toMatchObject({
      code: 'DEPENDENCY_UNAVAILABLE',
    });
    ledger.isClosed = false;
    expect(await levelOf(bob)).toBe('none');
    await open();
    expect(await levelOf(bob)).toBe('use');
    expect(ledger.take()).toEqual([`${who} agent.share ${agentId}`]);
    const another = await created(agents, { visibility: 'public' });
    expect(ledger.take()).toEqual([`${who} agent.share ${another}`]);
    // Who may not change it has shared nothing.
    const theirs = edge.updateAgent(change(agentId, { visibility: 'private' }), bob);
    await expect(theirs).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(ledger.take()).toEqual([]);
  });

  it('an assistant is its owner’s alone; administrators see it', async () => {
    const { assistant } = await agents.edge.createAssistant(assistantRequest(), alice);
    agentId = assistant?.assistantId ?? '';
    expect(await Promise.all([alice, bob, root].map(levelOf))).toEqual(['manage', 'none', 'see']);
    await expect(agents.edge.getAssistant({ assistantId: agentId }, bob)).rejects.toMatchObject({
      code: 'ASSISTANT_NOT_FOUND',
    });
    expect(await agents.edge.getAssistant({ assistantId: agentId }, root)).toMatchObject({
      assistant: { name: 'Helper' },
    });
    for (const ask of [
      () => agents.edge.updateAssistant(assistantChange(agentId, { name: 'Mine' }), root),
      () => agents.edge.deleteAssistant({ assistantId: agentId }, root),
      () => start(root),
    ])
      await expect(ask()).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect((await agents.edge.listAssistants({ page, q: '' }, root)).assistants).toEqual([]);
    await expect(share({ visibility: 'public' })).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
  });
});
