import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLocalBus } from '../../../lib/bus/local.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { createdAssistant } from './assistants.ts';
import { ABSENT_SERVER, catalogueOf, createServer, reportCatalogue, reviewedServer } from './mcp-servers.ts';
import {
  ABSENT,
  type AgentsSystem,
  administrator,
  alice,
  bob,
  change,
  createAgent,
  openAgentsSystem,
  RUNTIME,
} from './system.ts';

describe.each(TRANSPORTS)('extensions of agents and assistants, %s', (transport) => {
  const hints: string[] = [];
  let agents: AgentsSystem;
  beforeAll(async () => {
    const bus = createLocalBus();
    bus.subscribe('agents.changed', (agentId) => hints.push(agentId));
    agents = await openAgentsSystem(transport, { bus });
  });
  afterAll(() => agents[Symbol.asyncDispose]());

  const get = async (agentId: string, by = alice) =>
    (await agents.edge.getExtensions({ agentId }, by)).extensions!;
  const put = async (agentId: string, mcpServerIds: string[], by = alice, revisions?: number[]) => {
    const request = { agentId, mcpServerIds, ifRevisions: revisions && { revisions } };
    return (await agents.edge.putExtensions(request, by)).extensions!;
  };
  const remove = (mcpServerId: string) =>
    agents.edge.deleteMcpServer({ mcpServerId, ifRevisions: undefined }, administrator);

  it('makes a new version with the servers, which a runner reads', async () => {
    const { mcpServerId, name } = await reviewedServer(agents, { find: 'Finds.', keep: 'Keeps.' });
    const agentId = await createAgent(agents);
    agents.auditLog.takeActs();
    hints.length = 0;
    expect(await put(agentId, [mcpServerId], alice, [1])).toMatchObject({
      ...{ agentId, version: 2, revision: 2 },
      mcpServers: [
        { mcpServerId, name, state: 'ready', toolCount: 2, offeredCount: 2, offerResources: false },
      ],
    });
    expect(hints).toEqual([agentId]);
    expect(agents.auditLog.takeActs()).toEqual([`${alice.caller.userId} extensions.update ${agentId}`]);
    const { version } = await agents.as('runner').getAgentVersion({ agentId, version: 2 });
    expect(version?.runtime?.mcpServers).toEqual({ ids: [mcpServerId] });
    expect(await put(agentId, [mcpServerId])).toMatchObject({ version: 2, revision: 2 });
    expect(await put(agentId, [])).toMatchObject({ version: 3, mcpServers: [] });
    await expect(put(agentId, [mcpServerId], alice, [2])).rejects.toMatchObject({ code: 'VERSION_CONFLICT' });
  });

  it('keeps the servers of an agent when other settings change, and ignores servers of a creation', async () => {
    const { mcpServerId } = await createServer(agents);
    const agentId = await createAgent(agents, {
      runtime: { ...RUNTIME, mcpServers: { ids: [mcpServerId] } },
    });
    expect(await get(agentId)).toMatchObject({ mcpServers: [] });
    await put(agentId, [mcpServerId]);
    await agents.edge.updateAgent(change(agentId, { system: 'Be kind.' }), alice);
    expect(await get(agentId)).toMatchObject({ version: 3, mcpServers: [{ mcpServerId }] });
  });

  it('serves assistants of their owner without a version', async () => {
    const { mcpServerId } = await createServer(agents);
    const { assistantId } = await createdAssistant(agents);
    expect(await put(assistantId, [mcpServerId])).toMatchObject({
      ...{ agentId: assistantId, version: 0, mcpServers: [{ mcpServerId, state: 'unreviewed' }] },
    });
    await expect(put(assistantId, [], bob)).rejects.toMatchObject({ code: 'ASSISTANT_NOT_FOUND' });
    await expect(get(assistantId, bob)).rejects.toMatchObject({ code: 'ASSISTANT_NOT_FOUND' });
    await expect(put(assistantId, [], administrator)).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });

  it('shows sessions what is known while vaults cannot be reached', async () => {
    const withState = async (authorization: string) =>
      (await reviewedServer(agents, { find: 'Finds.' }, { authorization })).mcpServerId;
    const ids = [await withState('none'), await withState('shared'), await withState('any')];
    const unreviewed = (await createServer(agents, { authorization: 'shared' })).mcpServerId;
    const agentId = await createAgent(agents);
    const { version } = await put(agentId, [...ids, unreviewed]);
    const session = { agentId, version, ownerId: alice.caller.userId, isTriggered: false };
    const { mcpServers, ...others } = await agents.as('sessions').getVersionExtensions(session, alice);
    expect(others).toMatchObject({ skills: [], variables: [], credentialsUnavailable: true });
    const states = new Map(mcpServers.map(({ mcpServerId, state }) => [mcpServerId, state]));
    expect([...ids, unreviewed].map((id) => states.get(id))).toEqual([
      ...['ready', 'unavailable', 'unavailable', 'unreviewed'],
    ]);
  });

  it('shows the state of each server, and the others that the caller can add', async () => {
    const ready = await reviewedServer(agents, { find: 'Finds.' });
    const changed = await reviewedServer(agents, { find: 'Finds.' });
    await reportCatalogue(agents, changed.mcpServerId, catalogueOf({}).json);
    const disabled = await createServer(agents, { enabled: false });
    const reserved = await createServer(agents, { availableTo: 'administrators' });
    const agentId = await createAgent(agents);
    await put(
      agentId,
      [ready, changed, disabled].map(({ mcpServerId }) => mcpServerId),
    );
    const { mcpServers, availableMcpServers } = await get(agentId);
    const stateOf = new Map(mcpServers.map((server) => [server.mcpServerId, server.state]));
    expect(stateOf.get(ready.mcpServerId)).toBe('ready');
    expect(stateOf.get(changed.mcpServerId)).toBe('changed');
    expect(stateOf.get(disabled.mcpServerId)).toBe('disabled');
    const available = availableMcpServers.map(({ mcpServerId }) => mcpServerId);
    expect(available).not.toContain(ready.mcpServerId);
    expect(available).not.toContain(reserved.mcpServerId);
    const all = (await get(agentId, administrator)).availableMcpServers;
    expect(all.map(({ mcpServerId }) => mcpServerId)).toContain(reserved.mcpServerId);
  });

  it('refuses unknown servers and servers for administrators alike, except those that the agent has', async () => {
    const { mcpServerId } = await createServer(agents, { availableTo: 'administrators' });
    const agentId = await createAgent(agents);
    const notFound = { code: 'MCP_SERVER_NOT_FOUND', details: [{ pointer: '/mcp_server_ids/0' }] };
    const messages = [];
    for (const id of [mcpServerId, ABSENT_SERVER, 'mcp_1', 'x'.repeat(100_000)]) {
      await expect(put(agentId, [id])).rejects.toMatchObject(notFound);
      messages.push(await put(agentId, [id]).catch(({ message }) => message));
    }
    expect(new Set(messages).size).toBe(1);
    await put(agentId, [mcpServerId], administrator);
    const { mcpServerId: other } = await createServer(agents);
    expect((await put(agentId, [mcpServerId, other])).mcpServers).toHaveLength(2);
  });

  it('refuses users who do not manage the agent, and unknown agents', async () => {
    const agentId = await createAgent(agents, { visibility: 'public' });
    await expect(put(agentId, [], bob)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(await get(agentId, bob)).toMatchObject({ availableMcpServers: [] });
    await expect(get(ABSENT)).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
    await expect(put(ABSENT, [])).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
  });

  it('refuses 21 servers, a repeated one, and more tools than an agent may have', async () => {
    const agentId = await createAgent(agents);
    const ids = Array.from({ length: 21 }, (_, at) => `mcp_${String(at).padStart(26, '0')}`);
    const invalid = { code: 'INVALID_REQUEST' };
    await expect(put(agentId, ids)).rejects.toMatchObject(invalid);
    await expect(put(agentId, [ABSENT_SERVER, ABSENT_SERVER])).rejects.toMatchObject(invalid);
    // The limit of these tests is 8 tools.
    const tools = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [name, '']));
    const servers = [await reviewedServer(agents, tools), await reviewedServer(agents, tools)];
    await expect(
      put(
        agentId,
        servers.map(({ mcpServerId }) => mcpServerId),
      ),
    ).rejects.toMatchObject({
      ...invalid,
      details: [{ pointer: '/mcp_server_ids' }],
    });
  });

  it('keeps a server from being deleted until the newest version of each agent lacks it', async () => {
    const { mcpServerId } = await createServer(agents);
    const inUse = { code: 'RESOURCE_IN_USE' };
    const first = await createAgent(agents);
    const { assistantId } = await createdAssistant(agents);
    await put(first, [mcpServerId]);
    await put(assistantId, [mcpServerId]);
    await expect(remove(mcpServerId)).rejects.toMatchObject(inUse);
    await put(first, []);
    await expect(remove(mcpServerId)).rejects.toMatchObject(inUse);
    await agents.edge.deleteAssistant({ assistantId, ifRevisions: undefined }, alice);
    await remove(mcpServerId);
    await expect(put(first, [mcpServerId])).rejects.toMatchObject({ code: 'MCP_SERVER_NOT_FOUND' });
  });

  it('never gives an agent a server that is deleted concurrently', async () => {
    const agentIds = [await createAgent(agents), await createAgent(agents)];
    for (let round = 0; round < 10; round++) {
      const { mcpServerId } = await createServer(agents);
      const [removed, ...given] = await Promise.allSettled([
        remove(mcpServerId),
        ...agentIds.map((agentId) => put(agentId, [mcpServerId])),
      ]);
      const wasGiven = given.some(({ status }) => status === 'fulfilled');
      expect(removed.status).toBe(wasGiven ? 'rejected' : 'fulfilled');
    }
  });

  it('accepts entries in `tools` for existing servers only', async () => {
    const { name } = await createServer(agents);
    const entry = (tool: string, permission = '') => ({ name: tool, permission, client: undefined });
    const withTools = (...tools: string[]) =>
      createAgent(agents, { runtime: { ...RUNTIME, tools: tools.map((tool) => entry(tool)) } });
    const agentId = await withTools(`mcp__${name}__find`, `mcp__${name}__*`);
    const { version } = await agents.as('runner').getAgentVersion({ agentId, version: 1 });
    expect(version?.runtime?.tools.map(({ permission }) => permission)).toEqual(['allow', 'allow']);
    const invalid = { code: 'INVALID_REQUEST', details: [{ pointer: '/tools/0/name' }] };
    for (const tool of ['mcp__absent__find', `mcp__${name}`, `mcp__${name}__`, `mcp__${name}__a b`])
      await expect(withTools(tool)).rejects.toMatchObject(invalid);
    const update = (tools: object[]) => agents.edge.updateAgent(change(agentId, { tools: { tools } }), alice);
    await expect(update([entry('mcp__absent__*', 'deny')])).rejects.toMatchObject(invalid);
    await update([entry(`mcp__${name}__*`, 'deny')]);
  });
});
