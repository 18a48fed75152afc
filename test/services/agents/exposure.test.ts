import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TRANSPORTS } from '../../support/context.ts';
import { assistantRequest } from './assistants.ts';
import {
  type AgentsSystem,
  administrator,
  agentRequest,
  alice,
  bob,
  change,
  createAgent,
  openAgentsSystem,
} from './system.ts';

const DEFAULT = { mcp: 'on', openai: 'on', a2a: 'off' };

describe.each(TRANSPORTS)('exposure of agents, %s', (transport) => {
  let agents: AgentsSystem;
  let agentId: string;

  beforeAll(async () => {
    agents = await openAgentsSystem(transport);
  });
  afterAll(() => agents[Symbol.asyncDispose]());
  beforeEach(async () => {
    agentId = await createAgent(agents);
    agents.auditLog.takeActs();
    agents.auditLog.data.splice(0);
  });

  const read = async (id = agentId) => (await agents.edge.getAgent({ agentId: id }, alice)).agent!;
  const expose = (exposure: object, by: object = alice) =>
    agents.edge.updateAgent(change(agentId, { exposure }), by);
  const listed = async (exposedTo: string, by: object = alice, q = agentId) => {
    const { agents: items } = await agents.edge.listAgents({ q, page: undefined, exposedTo }, by);
    return items.map((agent) => agent.agentId);
  };

  describe('GetPublicCard', () => {
    it('answers without a user for an agent whose card is public, and for no other one', async () => {
      const absent = { code: 'AGENT_NOT_FOUND' };
      const card = (id = agentId) => agents.edge.getPublicCard({ agentId: id });
      await expect(card()).rejects.toMatchObject(absent);
      await expose({ a2a: 'on' });
      await expect(card()).rejects.toMatchObject(absent);
      await expose({ a2a: 'public' });
      const { name, description, version } = await read();
      expect(await card()).toEqual({ agentId, name, description, version });
      await agents.edge.deleteAgent({ agentId }, alice);
      await expect(card()).rejects.toMatchObject(absent);
      for (const id of ['', 'agt_x', 'ast_01M7XYC91CC5TE06JQWDWRTJVA'])
        await expect(card(id)).rejects.toMatchObject(absent);
    });

    it('is refused to other services', async () => {
      for (const peer of ['sessions', 'runner', 'deployments'])
        await expect(agents.as(peer).getPublicCard({ agentId })).rejects.toMatchObject({ code: 'FORBIDDEN' });
    });
  });

  describe('CreateAgent', () => {
    it('exposes a new agent to MCP and OpenAI clients by default', async () => {
      expect((await read()).exposure).toEqual(DEFAULT);
    });

    it('completes a partial exposure with the defaults', async () => {
      const id = await createAgent(agents, { exposure: { mcp: 'off', a2a: 'on' } });
      expect((await read(id)).exposure).toEqual({ mcp: 'off', openai: 'on', a2a: 'on' });
    });

    it('records a public agent card as sharing', async () => {
      const id = await createAgent(agents, { exposure: { a2a: 'public' } });
      expect(agents.auditLog.takeActs()).toEqual([`${alice.caller.userId} agent.share ${id}`]);
      expect(agents.auditLog.data).toEqual([{ exposure: { a2a: 'public' } }]);
    });

    it('refuses unknown states with their pointers', async () => {
      const exposure = { mcp: 'public', openai: '', a2a: 'maybe' };
      await expect(agents.edge.createAgent(agentRequest({ exposure }), alice)).rejects.toMatchObject({
        code: 'INVALID_REQUEST',
        details: ['/exposure/mcp', '/exposure/openai', '/exposure/a2a'].map((pointer) => ({ pointer })),
      });
    });
  });

  describe('UpdateAgent', () => {
    it('changes only the given protocols, with a new revision and no new version', async () => {
      const before = await read();
      await expose({ openai: 'off' });
      const after = await read();
      const expected = { exposure: { ...DEFAULT, openai: 'off' }, revision: 2 };
      expect(after).toEqual({ ...before, ...expected, updatedAt: after.updatedAt });
    });

    it('keeps the revision when the exposure stays the same', async () => {
      await expose({ mcp: 'on' });
      expect((await read()).revision).toBe(1);
    });

    it('refuses an unknown state, and changes nothing', async () => {
      await expect(expose({ mcp: 'off', a2a: 'open' })).rejects.toMatchObject({
        code: 'INVALID_REQUEST',
        details: [{ pointer: '/exposure/a2a' }],
      });
      expect(await read()).toMatchObject({ exposure: DEFAULT, revision: 1 });
    });

    it('is refused for a user who does not manage the agent', async () => {
      await agents.edge.updateAgent(change(agentId, { visibility: 'public' }), alice);
      agents.auditLog.takeActs();
      await expect(expose({ a2a: 'public' }, bob)).rejects.toMatchObject({ code: 'FORBIDDEN' });
      expect((await read()).exposure).toEqual(DEFAULT);
      expect(agents.auditLog.takeActs()).toEqual([]);
    });

    it('records a change of the agent card as sharing, and no other change', async () => {
      await expose({ mcp: 'off', openai: 'off' });
      expect(agents.auditLog.takeActs()).toEqual([]);
      await expose({ mcp: 'on', a2a: 'public' });
      expect(agents.auditLog.takeActs()).toEqual([`${alice.caller.userId} agent.share ${agentId}`]);
      expect(agents.auditLog.data).toEqual([{ exposure: { a2a: 'public' } }]);
    });
  });

  describe('ListAgents with exposed_to', () => {
    it('lists agents that are exposed to the protocol, disabled ones too', async () => {
      await agents.edge.updateAgent(change(agentId, { enabled: false, exposure: { openai: 'off' } }), alice);
      expect(await listed('mcp')).toEqual([agentId]);
      expect([await listed('openai'), await listed('a2a')]).toEqual([[], []]);
      await expose({ a2a: 'public' });
      expect(await listed('a2a')).toEqual([agentId]);
    });

    it('lists shared agents until they are unshared', async () => {
      expect(await listed('mcp', bob)).toEqual([]);
      await agents.edge.updateAgent(change(agentId, { visibility: 'public' }), alice);
      expect(await listed('mcp', bob)).toEqual([agentId]);
      await agents.edge.updateAgent(change(agentId, { visibility: 'private' }), alice);
      expect(await listed('mcp', bob)).toEqual([]);
    });

    it('lists no agents of others for an administrator, and records no list', async () => {
      expect(await listed('mcp', administrator)).toEqual([]);
      expect(agents.auditLog.takeActs()).toEqual([]);
    });

    it('continues a page only with the same protocol', async () => {
      await createAgent(agents);
      const page = { limit: 1, cursor: '' };
      const first = await agents.edge.listAgents({ q: '', page, exposedTo: 'mcp' }, alice);
      const next = { limit: 100, cursor: first.page?.nextCursor ?? '' };
      const rest = await agents.edge.listAgents({ q: '', page: next, exposedTo: 'mcp' }, alice);
      expect(rest.agents[0]).toMatchObject({ agentId });
      for (const other of [{}, { exposedTo: 'openai' }])
        await expect(agents.edge.listAgents({ q: '', page: next, ...other }, alice)).rejects.toMatchObject({
          code: 'INVALID_CURSOR',
        });
    });

    it('refuses an unknown protocol', async () => {
      await expect(listed('grpc')).rejects.toMatchObject({
        code: 'INVALID_REQUEST',
        details: [{ pointer: '/exposed_to' }],
      });
    });

    it('never lists an assistant', async () => {
      const { assistant } = await agents.edge.createAssistant(assistantRequest(), alice);
      const id = assistant?.assistantId ?? '';
      expect(await Promise.all(['mcp', 'openai', 'a2a'].map((name) => listed(name, alice, id)))).toEqual([
        [],
        [],
        [],
      ]);
    });
  });

  it('gives an administrator no access to agents of others in requests of a protocol', async () => {
    const caller = { ...administrator.caller, protocol: 'mcp' as const };
    await expect(agents.edge.getAgent({ agentId }, { caller })).rejects.toMatchObject({
      code: 'AGENT_NOT_FOUND',
    });
    expect(agents.auditLog.takeActs()).toEqual([]);
  });
});
