import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Browser, startTeam, type Team } from '../../access/team.ts';
import { call, callRefused, connectMcp } from './client.ts';

const APPROVED = {
  name: 'Asks',
  model: 'rehearsal/script',
  model_options: { steps: [{ tool: 'calculator', input: { expression: '1 + 1' } }, { text: '2' }] },
  tools: [{ name: 'calculator', permission: 'ask' }],
};

describe('the rights of MCP clients', () => {
  let team: Team;
  let alice: Browser;
  let bob: Browser;
  beforeAll(async () => {
    team = await startTeam();
    [alice, bob] = await Promise.all([team.logIn('alice'), team.logIn('bob')]);
  });
  afterAll(() => team[Symbol.asyncDispose]());

  const connectAs = async (browser: Browser, ...scopes: string[]) => {
    const { value } = await browser.token(scopes);
    return connectMcp(`${team.url}/mcp`, { authorization: `Bearer ${value}` });
  };
  const createAgent = async (browser: Browser, members: object) =>
    String((await browser.post('/api/v1/agents', members)).data.agent_id);

  it('a client without the scope approve neither sees nor calls answer_approval', async () => {
    const agent = await createAgent(alice, APPROVED);
    await using delegating = await connectAs(alice, 'mcp');
    await using approving = await connectAs(alice, 'mcp', 'approve');
    const names = async (client: typeof delegating) =>
      (await client.listTools()).tools.map(({ name }) => name);
    expect(await names(delegating)).not.toContain('answer_approval');
    expect(await names(approving)).toContain('answer_approval');
    const blocked = await call<{ session_id: string; approvals: { approval_id: string }[] }>(
      delegating,
      'create_conversation',
      { agent_id: agent, message: 'go' },
    );
    const { session_id, approvals } = blocked;
    const answer = { session_id, approval_id: approvals[0]?.approval_id, decision: 'allow' };
    await expect(delegating.callTool({ name: 'answer_approval', arguments: answer })).rejects.toMatchObject({
      code: -32602,
    });
    expect(await call(delegating, 'list_approvals', { session_id, status: 'pending' })).toMatchObject({
      approvals: [{ status: 'pending' }],
    });
    expect(await call(approving, 'answer_approval', answer)).toMatchObject({
      approval: { decision: 'allow' },
    });
  });

  it('agents and sessions of another user are not found, not even by an administrator', async () => {
    const agent = await createAgent(bob, { name: 'Private', model: 'rehearsal/echo' });
    const shared = await createAgent(bob, { name: 'Shared', model: 'rehearsal/echo', visibility: 'public' });
    await using own = await connectAs(bob, 'mcp');
    await using foreign = await connectAs(alice, 'mcp', 'approve');
    const { session_id } = await call(own, 'create_conversation', { agent_id: shared, message: 'hi' });
    const { tools } = await foreign.listTools();
    expect(tools.map(({ title }) => title)).not.toContain('Private');
    expect(tools.map(({ title }) => title)).toContain('Shared');
    const ask = (await own.listTools()).tools.find(({ title }) => title === 'Private')?.name ?? '';
    await expect(foreign.callTool({ name: ask, arguments: { message: 'hi' } })).rejects.toMatchObject({
      code: -32602,
    });
    expect(await callRefused(foreign, 'get_agent', { agent_id: agent })).toMatchObject({
      code: 'AGENT_NOT_FOUND',
    });
    for (const [name, args] of [
      ['get_session', {}],
      ['send_message', { message: 'hi' }],
      ['list_messages', {}],
      ['list_events', {}],
      ['list_approvals', {}],
      ['list_files', {}],
      ['read_file', { path: 'a' }],
      ['write_file', { path: 'a', content: '' }],
      ['interrupt', {}],
      ['wait_for_turn', { turn_id: 'trn_7ZZZZZZZZZZZZZZZZZZZZZZZZZ' }],
      ['answer_approval', { approval_id: 'apr_7ZZZZZZZZZZZZZZZZZZZZZZZZZ', decision: 'allow' }],
    ] as const)
      expect(await callRefused(foreign, name, { session_id, ...args }), name).toMatchObject({
        code: 'SESSION_NOT_FOUND',
      });
    expect(await call(foreign, 'list_sessions', { agent_id: shared })).toMatchObject({ sessions: [] });
    const { actor } = (await bob.get(`/api/v1/sessions/${session_id}/events?types=session.created`))
      .data[0] as { actor: object };
    expect(actor).toMatchObject({ type: 'mcp', id: expect.stringMatching(/^tok_/) });
  });
});
