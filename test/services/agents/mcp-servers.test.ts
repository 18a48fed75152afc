import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLocalBus } from '../../../lib/bus/local.ts';
import type { McpOAuth } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { ABSENT_SERVER, createServer, serverRequest } from './mcp-servers.ts';
import { type AgentsSystem, administrator, alice, openAgentsSystem } from './system.ts';

const UNCHANGED = { ifRevisions: undefined, oauth: undefined, clientSecret: undefined };

const oauthOf = (members: Partial<McpOAuth>): McpOAuth => ({
  ...{ clientId: '', scopes: [], issuer: '', hasClientSecret: false },
  ...members,
});

describe.each(TRANSPORTS)('MCP servers, %s', (transport) => {
  const hints: string[] = [];
  let agents: AgentsSystem;
  beforeAll(async () => {
    const bus = createLocalBus();
    bus.subscribe('extensions.changed', (mcpServerId) => hints.push(mcpServerId));
    agents = await openAgentsSystem(transport, { bus });
  });
  afterAll(() => agents[Symbol.asyncDispose]());

  const notFound = { code: 'MCP_SERVER_NOT_FOUND' };
  const read = async (mcpServerId: string) =>
    (await agents.edge.getMcpServer({ mcpServerId }, administrator)).mcpServer!;
  const update = (mcpServerId: string, members: object) =>
    agents.edge.updateMcpServer({ mcpServerId, ...UNCHANGED, ...members }, administrator);
  const remove = (mcpServerId: string, revisions?: number[]) =>
    agents.edge.deleteMcpServer({ mcpServerId, ifRevisions: revisions && { revisions } }, administrator);

  it('returns a new server, which has no review, as GetMcpServer then returns it', async () => {
    const request = serverRequest({ url: 'HTTPS://MCP.example.com' });
    const { mcpServer } = await agents.edge.createMcpServer(request, administrator);
    expect(mcpServer).toMatchObject({
      mcpServerId: expect.stringMatching(/^mcp_[0-9A-HJKMNP-TV-Z]{26}$/),
      name: request.name,
      url: 'https://mcp.example.com/',
      title: '',
      revision: 1,
      createdBy: administrator.caller.userId,
      catalogue: { reviewedSha256: '', toolCount: 0, seenSha256: '', seenAt: undefined, state: 'unreviewed' },
    });
    expect(await read(mcpServer!.mcpServerId)).toEqual(mcpServer);
  });

  it('records changes in the audit log first, and fails without a change when the log is unavailable', async () => {
    const { auditLog } = agents;
    auditLog.takeActs();
    const { mcpServerId } = await createServer(agents);
    await update(mcpServerId, { enabled: false });
    auditLog.failsToRecord = true;
    const closed = { code: 'DEPENDENCY_UNAVAILABLE' };
    await expect(createServer(agents)).rejects.toMatchObject(closed);
    await expect(update(mcpServerId, { enabled: true })).rejects.toMatchObject(closed);
    await expect(remove(mcpServerId)).rejects.toMatchObject(closed);
    auditLog.failsToRecord = false;
    expect(await read(mcpServerId)).toMatchObject({ enabled: false, revision: 2 });
    await remove(mcpServerId);
    await expect(read(mcpServerId)).rejects.toMatchObject(notFound);
    expect(auditLog.takeActs()).toEqual(
      ['create', 'update', 'delete'].map(
        (act) => `${administrator.caller.userId} mcp-server.${act} ${mcpServerId}`,
      ),
    );
  });

  it('refuses members of users and unknown ids', async () => {
    const { mcpServerId } = await createServer(agents);
    const forbidden = { code: 'FORBIDDEN' };
    const { edge } = agents;
    await expect(edge.createMcpServer(serverRequest(), alice)).rejects.toMatchObject(forbidden);
    await expect(edge.getMcpServer({ mcpServerId }, alice)).rejects.toMatchObject(forbidden);
    await expect(edge.listMcpServers({ page: undefined, q: '' }, alice)).rejects.toMatchObject(forbidden);
    await expect(edge.updateMcpServer({ mcpServerId, ...UNCHANGED }, alice)).rejects.toMatchObject(forbidden);
    for (const id of [ABSENT_SERVER, 'mcp_1', 'github']) {
      await expect(read(id)).rejects.toMatchObject(notFound);
      await expect(update(id, { enabled: true })).rejects.toMatchObject(notFound);
      await expect(remove(id)).rejects.toMatchObject(notFound);
    }
  });

  it.each([
    ['a name with an upper-case letter', { name: 'GitHub' }, '/name'],
    ['a name that begins with a digit', { name: '1password' }, '/name'],
    ['a name with an underscore', { name: 'git_hub' }, '/name'],
    ['a name of 33 characters', { name: 'a'.repeat(33) }, '/name'],
    ['a text that is no URL', { url: 'mcp.example.com' }, '/url'],
    ['an http: URL of a host that is not listed', { url: 'http://127.0.0.1:8124/mcp' }, '/url'],
    ['a URL of another scheme', { url: 'ftp://mcp.example.com/' }, '/url'],
    ['a URL with a password', { url: 'https://me:secret@mcp.example.com/' }, '/url'],
    ['a URL with a fragment', { url: 'https://mcp.example.com/#a' }, '/url'],
    ['an unknown transport', { transport: 'stdio' }, '/transport'],
    ['an unknown authorization', { authorization: 'public' }, '/authorization'],
    [
      'OAuth settings with an issuer that is no URL',
      { oauth: oauthOf({ issuer: 'login' }) },
      '/oauth/issuer',
    ],
    ['OAuth settings with a scope of two words', { oauth: oauthOf({ scopes: ['a b'] }) }, '/oauth/scopes/0'],
    ['a time limit of 601 s', { timeoutSeconds: 601 }, '/timeout_seconds'],
    ['an unknown audience', { availableTo: 'users' }, '/available_to'],
  ])('refuses %s by its pointer', async (_, members, pointer) => {
    const refused = agents.edge.createMcpServer(serverRequest(members), administrator);
    await expect(refused).rejects.toMatchObject({ code: 'INVALID_REQUEST', details: [{ pointer }] });
    await expect(refused).rejects.not.toThrow('secret');
  });

  it('keeps, changes and removes OAuth settings', async () => {
    const oauth = oauthOf({ clientId: 'ahs', scopes: ['read'], issuer: 'https://login.example.com' });
    const { mcpServerId } = await createServer(agents, { authorization: 'personal', oauth });
    expect((await read(mcpServerId)).oauth).toEqual(oauth);
    await update(mcpServerId, { enabled: false });
    expect((await read(mcpServerId)).oauth).toEqual(oauth);
    await update(mcpServerId, { oauth: oauthOf({}) });
    expect((await read(mcpServerId)).oauth).toBeUndefined();
  });

  it('accepts http: for a listed private host', async () => {
    expect(await createServer(agents, { url: 'http://127.0.0.1:8123/mcp' })).toMatchObject({
      url: 'http://127.0.0.1:8123/mcp',
    });
  });

  it('replays a creation with the same idempotency key and refuses other content', async () => {
    const request = serverRequest({ idempotencyKey: `once-${transport}` });
    const { mcpServer } = await agents.edge.createMcpServer(request, administrator);
    expect(await agents.edge.createMcpServer(request, administrator)).toEqual({ mcpServer, replayed: true });
    const other = agents.edge.createMcpServer({ ...request, enabled: false }, administrator);
    await expect(other).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_CONFLICT' });
  });

  it('refuses a name that is in use and accepts it again after a deletion', async () => {
    const request = serverRequest();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 4 }, () => agents.edge.createMcpServer(request, administrator)),
    );
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused.map(({ reason }) => reason.code)).toEqual(Array(3).fill('NAME_TAKEN'));
    const [first] = outcomes.filter((outcome) => outcome.status === 'fulfilled');
    await remove(first!.value.mcpServer!.mcpServerId);
    await createServer(agents, { name: request.name });
  });

  it('counts changes as revisions, evaluates expected revisions and sends a hint', async () => {
    const { mcpServerId } = await createServer(agents);
    const conflict = { code: 'VERSION_CONFLICT' };
    hints.length = 0;
    const { mcpServer } = await update(mcpServerId, {
      timeoutSeconds: 5,
      trustAnnotations: true,
      ifRevisions: { revisions: [1] },
    });
    expect(mcpServer).toMatchObject({ timeoutSeconds: 5, trustAnnotations: true, revision: 2 });
    expect(hints).toEqual([mcpServerId]);
    expect((await update(mcpServerId, { timeoutSeconds: 5 })).mcpServer).toEqual(mcpServer);
    const outdated = update(mcpServerId, { enabled: false, ifRevisions: { revisions: [1] } });
    await expect(outdated).rejects.toMatchObject(conflict);
    await expect(remove(mcpServerId, [1])).rejects.toMatchObject(conflict);
    await remove(mcpServerId, [2]);
  });

  it('lists servers newest first, in pages and by a search text', async () => {
    const created = [];
    for (const description of ['Finds needles', 'Finds hay', 'Finds needles, too'])
      created.push(await createServer(agents, { description }));
    const ids = created.map(({ mcpServerId }) => mcpServerId).reverse();
    const list = (q: string, limit: number, cursor = '') =>
      agents.edge.listMcpServers({ q, page: { limit, cursor } }, administrator);
    const first = await list('', 2);
    expect(first.mcpServers.map(({ mcpServerId }) => mcpServerId)).toEqual(ids.slice(0, 2));
    const second = await list('', 2, first.page!.nextCursor);
    expect(second.mcpServers[0]?.mcpServerId).toBe(ids[2]);
    expect((await list('NEEDLES', 10)).mcpServers.map(({ mcpServerId }) => mcpServerId)).toEqual([
      ids[0],
      ids[2],
    ]);
    await expect(list('other', 2, first.page!.nextCursor)).rejects.toMatchObject({ code: 'INVALID_CURSOR' });
  });
});
