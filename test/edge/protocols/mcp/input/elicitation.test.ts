import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendMcpRequest } from '../../../../support/mcp-requests.ts';
import { type Browser, startTeam, type Team } from '../../../access/team.ts';
import { connectMcp } from '../client.ts';

const script = (name: string, ...steps: object[]) => ({
  name,
  model: 'rehearsal/script',
  model_options: { steps },
});
const calculation = (expression: string) => ({ tool: 'calculator', input: { expression } });
const question = (text: string) => ({
  tool: 'ask_user',
  input: {
    question: text,
    schema: {
      type: 'object',
      required: ['size'],
      properties: { size: { type: 'string', enum: ['S', 'M'] }, count: { type: 'integer', minimum: 1 } },
    },
  },
});
/** Separates two calls, which are one answer of the model otherwise. */
const THEN = { thinking: 'Next' };
const ASKING = { tools: [{ name: 'calculator', permission: 'ask' }] };
const FORMS = { elicitation: {} };
const BOTH = { elicitation: { form: {}, url: {} } };

interface Elicitation {
  mode?: string;
  message: string;
  url?: string;
  requestedSchema?: { properties: Record<string, unknown> };
}
type Answer = {
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, string | number | boolean>;
};

describe('approvals and questions in the forms of MCP clients', () => {
  let team: Team;
  let alice: Browser;
  let bob: Browser;
  let tokens: { mcp: string; approve: string; foreign: string };
  beforeAll(async () => {
    team = await startTeam();
    [alice, bob] = await Promise.all([team.logIn('alice'), team.logIn('bob')]);
    tokens = {
      mcp: (await bob.token(['mcp'])).value,
      approve: (await bob.token(['mcp', 'approve'])).value,
      foreign: (await alice.token(['mcp', 'approve'])).value,
    };
  });
  afterAll(() => team[Symbol.asyncDispose]());

  const createAgent = async (members: object) =>
    String((await bob.post('/api/v1/agents', members)).data.agent_id);

  /** A client of the SDK that answers the requests of the server with `answer`. */
  const connect = async (
    token: string,
    answer: (request: Elicitation) => Answer,
    elicitation: object = {},
  ) => {
    const options = { capabilities: { elicitation }, versionNegotiation: { mode: { pin: '2026-07-28' } } };
    const client = await connectMcp(
      `${team.url}/mcp`,
      { authorization: `Bearer ${token}` },
      options as Parameters<typeof connectMcp>[2],
    );
    client.setRequestHandler('elicitation/create', ({ params }) => answer(params as Elicitation));
    return client;
  };
  const begin = (agentId: string, more: object = {}) => ({
    name: 'create_conversation',
    arguments: { agent_id: agentId, message: 'Go', wait_seconds: 30, ...more },
  });
  const send = (
    token: string,
    call: { name: string; arguments: object },
    more: Record<string, unknown> = {},
    capabilities: object = FORMS,
  ) => sendMcpRequest(`${team.url}/mcp`, 'tools/call', { ...call, ...more }, { token, capabilities });
  const approvalsOf = async (sessionId: string) =>
    (await bob.get(`/api/v1/sessions/${sessionId}/approvals`)).data;
  const onlySession = async (agentId: string) => {
    const { data } = await bob.get(`/api/v1/sessions?agent_id=${agentId}`);
    expect(data).toHaveLength(1);
    const [session] = data as { session_id: string }[];
    return session?.session_id ?? '';
  };

  it('ask for each decision and each answer, until the turn has ended', async () => {
    const agentId = await createAgent({
      ...script('Steps', calculation('6 * 7'), THEN, question('Which size?'), THEN, calculation('1 + 1'), {
        text: 'Done.',
      }),
      ...ASKING,
    });
    const seen: Elicitation[] = [];
    await using client = await connect(tokens.approve, (request): Answer => {
      seen.push(request);
      return request.message === 'Which size?'
        ? { action: 'accept', content: { size: 'M', count: 2 } }
        : { action: 'accept', content: { decision: 'deny', reason: 'Not today' } };
    });
    const result = await client.callTool(begin(agentId));
    expect(result.structuredContent).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(seen.map(({ message }) => message)).toEqual([
      expect.stringContaining('"expression": "6 * 7"'),
      'Which size?',
      expect.stringContaining('"expression": "1 + 1"'),
    ]);
    const sessionId = await onlySession(agentId);
    const decided = { status: 'decided', decision: 'deny', reason: 'Not today' };
    expect(await approvalsOf(sessionId)).toMatchObject([decided, decided]);
    const { data: calls } = await bob.get(`/api/v1/sessions/${sessionId}/tool-calls`);
    expect(calls).toMatchObject([{ status: 'answered', output: { size: 'M', count: 2 } }]);
    const { data: turns } = await bob.get(`/api/v1/sessions/${sessionId}/turns`);
    expect(turns).toHaveLength(1);
  });

  it('need the scope approve for a decision, else name the page of the console', async () => {
    const agentId = await createAgent({ ...script('Page', calculation('6 * 7'), { text: '42' }), ...ASKING });
    const seen: Elicitation[] = [];
    await using client = await connect(
      tokens.mcp,
      (request) => {
        seen.push(request);
        return { action: 'accept' };
      },
      BOTH.elicitation,
    );
    const { structuredContent } = await client.callTool(begin(agentId));
    expect(structuredContent).toMatchObject({ status: 'blocked', approvals: [{ kind: 'tool' }] });
    const sessionId = await onlySession(agentId);
    expect(seen).toMatchObject([{ mode: 'url', url: expect.stringContaining(`/sessions/${sessionId}`) }]);
    expect(await approvalsOf(sessionId)).toMatchObject([{ status: 'pending' }]);
    // A client that only has forms gets the blocked turn.
    const plain = await send(tokens.mcp, begin(agentId));
    expect(plain.result).toMatchObject({ resultType: 'complete', structuredContent: { status: 'blocked' } });
  });

  it('give a question with the scope mcp alone, and its refusal to the agent', async () => {
    const agentId = await createAgent(script('Declined', question('Why?'), { text: '{{last_tool_output}}' }));
    await using client = await connect(tokens.mcp, () => ({ action: 'decline' }));
    expect((await client.callTool(begin(agentId))).structuredContent).toMatchObject({
      status: 'completed',
      text: expect.stringContaining('The user declined to answer.'),
    });
  });

  it('return the blocked turn when the user closes the form, and ask again with the next call', async () => {
    const agentId = await createAgent(script('Closed', question('When?'), { text: 'Later.' }));
    const seen: string[] = [];
    await using client = await connect(tokens.mcp, ({ message }) => {
      seen.push(message);
      return seen.length === 1 ? { action: 'cancel' } : { action: 'accept', content: { size: 'S' } };
    });
    const { structuredContent } = await client.callTool(begin(agentId));
    expect(structuredContent).toMatchObject({ status: 'blocked', questions: [{ kind: 'input' }] });
    const { session_id, turn_id } = structuredContent as { session_id: string; turn_id: string };
    const waited = await client.callTool({ name: 'wait_for_turn', arguments: { session_id, turn_id } });
    expect(waited.structuredContent).toMatchObject({ status: 'completed', text: 'Later.' });
    expect(seen).toEqual(['When?', 'When?']);
  });

  it('decide nothing without the scope, for another user, and with an altered state', async () => {
    const agentId = await createAgent({
      ...script('States', calculation('6 * 7'), { text: '42' }),
      ...ASKING,
    });
    const call = begin(agentId);
    const { result } = await send(tokens.approve, call);
    expect(result?.resultType).toBe('input_required');
    const sessionId = await onlySession(agentId);
    const [key = ''] = Object.keys(result?.inputRequests as object);
    const requestState = String(result?.requestState);
    const inputResponses = { [key]: { action: 'accept', content: { decision: 'allow' } } };
    const retry = (token: string, more: object = {}) =>
      send(token, call, { inputResponses, requestState, ...more });

    const last = requestState.endsWith('A') ? 'B' : 'A';
    const refused = [
      await retry(tokens.approve, {
        requestState: requestState.slice(0, -2) + last + requestState.slice(-1),
      }),
      await retry(tokens.approve, { requestState: 'a state' }),
      await retry(tokens.foreign),
      await send(tokens.approve, { name: 'list_agents', arguments: {} }, { requestState }),
    ];
    expect(refused[0]?.error).toMatchObject({ code: -32602, data: { code: 'INVALID_REQUEST' } });
    for (const { status, error } of refused)
      expect([status, error]).toEqual([refused[0]?.status, refused[0]?.error]);
    expect((await retry(tokens.mcp)).error).toMatchObject({
      code: -32602,
      data: { code: 'SCOPE_INSUFFICIENT' },
    });
    for (const content of [{}, { decision: 'maybe' }, { decision: 'allow', edited_input: 'x' }])
      expect(
        (await retry(tokens.approve, { inputResponses: { [key]: { action: 'accept', content } } })).error,
      ).toMatchObject({ code: -32602, data: { code: 'INVALID_REQUEST' } });
    expect(await approvalsOf(sessionId)).toMatchObject([{ status: 'pending' }]);

    // Without a response the request is repeated, and other responses are ignored.
    const repeated = await retry(tokens.approve, { inputResponses: { other: { action: 'accept' } } });
    expect(Object.keys(repeated.result?.inputRequests as object)).toEqual([key]);
    const decided = await retry(tokens.approve);
    expect(decided.result).toMatchObject({ structuredContent: { status: 'completed', text: '42' } });
    expect((await retry(tokens.approve)).result).toMatchObject({
      structuredContent: { status: 'completed' },
    });
    await onlySession(agentId);

    await bob.send('PATCH', `/api/v1/agents/${agentId}`, { exposure: { mcp: 'off' } });
    const wait = { name: 'wait_for_turn', arguments: { session_id: sessionId, turn_id: 'trn_' } };
    const hidden = await send(tokens.approve, wait, { requestState });
    expect(JSON.stringify(hidden.result)).toContain('SESSION_NOT_FOUND');
  });
});
