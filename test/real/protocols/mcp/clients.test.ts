import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTeam, type Team } from '../../../edge/access/team.ts';
import { type Api, createApi } from '../../../support/api.ts';
import {
  connectClient,
  connectEarlierClient,
  type McpTestClient,
  type ToolOutcome,
} from '../../../support/mcp-clients.ts';
import { sendMcpRequest } from '../../../support/mcp-requests.ts';
import { TASK_CAPABILITIES } from '../../../support/mcp-tasks.ts';
import { until } from '../../../support/wait.ts';

const CLIENTS = 50;
/** Longer than the pause between two reports of progress. */
const SLOW_MS = 13_000;
const LONG_MS = 90_000;
const NEVER_MS = 3_600_000;

const script = (...steps: object[]) => ({ model: 'rehearsal/script', model_options: { steps } });

/** The members of the result of a turn that tests read. */
interface TurnResult {
  session_id: string;
  turn_id: string;
  status: string;
  text: string;
  files: { path: string }[];
}

const turnOf = (outcome: ToolOutcome) => {
  if (outcome.isError) throw new Error(`the tool has failed: ${JSON.stringify(outcome.content)}`);
  return outcome.structuredContent as unknown as TurnResult;
};

const stack = new AsyncDisposableStack();
let team: Team;
let tokens: { alice: string; bob: string };
let apis: { alice: Api; bob: Api };

beforeAll(async () => {
  team = stack.use(await startTeam());
  const of = async (name: 'alice' | 'bob') => {
    const browser = await team.logIn(name);
    const api = createApi(team.url, { authorization: `Bearer ${(await browser.token(['write'])).value}` });
    return { api, token: (await browser.token(['mcp'])).value };
  };
  const [alice, bob] = [await of('alice'), await of('bob')];
  tokens = { alice: alice.token, bob: bob.token };
  apis = { alice: alice.api, bob: bob.api };
});
afterAll(() => stack.disposeAsync());

describe.each([
  ['@modelcontextprotocol/client', '2026-07-28', connectClient],
  ['@modelcontextprotocol/sdk', '2025-11-25', connectEarlierClient],
])('%s', (_, revision, connect) => {
  const open = async (path = '/api/v1/mcp', token = tokens.bob): Promise<McpTestClient> =>
    connect(`${team.url}${path}`, token);

  it('negotiates its revision, lists tools and asks an agent', async () => {
    const agentId = await apis.bob.createAgent({ name: 'Translator' });
    await using client = await open();
    expect(client.revision).toBe(revision);
    const names = await client.toolNames();
    expect(names).toEqual(expect.arrayContaining(['list_agents', 'send_message', 'wait_for_turn']));
    expect(names).not.toContain('answer_approval');
    const ask = `ask_translator_${agentId.slice(-4).toLowerCase()}`;
    expect(names).toContain(ask);
    const turn = turnOf(await client.call(ask, { message: 'Good morning', wait_seconds: 30 }));
    expect(turn).toMatchObject({ status: 'completed', text: 'Good morning' });
    const next = { session_id: turn.session_id, message: 'And good night', wait_seconds: 30 };
    const again = turnOf(await client.call('send_message', next));
    expect(again).toMatchObject({ session_id: turn.session_id, status: 'completed', text: 'And good night' });
    const session = await apis.bob.get(`/sessions/${turn.session_id}/events?types=session.created`);
    expect(session.body.data[0]).toMatchObject({
      actor: { type: 'mcp', id: expect.stringMatching(/^tok_/) },
      data: { source: 'mcp' },
    });
  });

  it('uses the address at the root and that of one agent', async () => {
    const agentId = await apis.bob.createAgent({ name: 'Only one' });
    await apis.bob.createAgent({ name: 'Another' });
    await using one = await open(`/api/v1/mcp/agents/${agentId}`);
    const asks = (await one.toolNames()).filter((name) => name.startsWith('ask_'));
    expect(asks).toEqual([`ask_only_one_${agentId.slice(-4).toLowerCase()}`]);
    await using root = await open('/mcp');
    expect(await root.toolNames()).toEqual(expect.arrayContaining(asks));
  });

  it('waits longer than its own time limit while progress is reported', async () => {
    const agentId = await apis.bob.createAgent(script({ text: 'ready', chunk_chars: 5, delay_ms: SLOW_MS }));
    await using client = await open();
    const messages: (string | undefined)[] = [];
    const outcome = await client.call(
      'create_conversation',
      { agent_id: agentId, message: 'Go', wait_seconds: 60 },
      {
        timeout: SLOW_MS - 1_000,
        resetTimeoutOnProgress: true,
        onprogress: ({ message }) => messages.push(message),
      },
    );
    expect(turnOf(outcome)).toMatchObject({ status: 'completed', text: 'ready' });
    expect(messages.length).toBeGreaterThan(0);
  });

  it('leaves the agent at work when it disconnects, and the repeated call is the same turn', async () => {
    const steps = [{ text: 'done', chunk_chars: 4, delay_ms: 2_000 }];
    const agentId = await apis.bob.createAgent(script(...steps));
    const call = { agent_id: agentId, message: 'Go', wait_seconds: 30, idempotency_key: `key-${revision}` };
    const sessions = () => apis.bob.list<{ session_id: string }>(`/agents/${agentId}/sessions`);
    const leaving = new AbortController();
    const first = await open();
    const cut = first.call('create_conversation', call, { signal: leaving.signal }).catch(() => 'cut');
    await until('the turn is queued', async () => (await sessions()).length === 1);
    leaving.abort();
    expect(await cut).toBe('cut');
    await first[Symbol.asyncDispose]();
    await using second = await open();
    const turns = await Promise.all([
      second.call('create_conversation', call),
      second.call('create_conversation', call),
    ]);
    const [one, other] = turns.map(turnOf);
    expect(one).toMatchObject({ status: 'completed', text: 'done' });
    expect(other).toEqual(one);
    expect((await sessions()).length).toBe(1);
    const stored = await apis.bob.list(`/sessions/${one?.session_id}/turns`);
    expect(stored.length).toBe(1);
  });

  it('lists and reads sessions as resources', async () => {
    const agentId = await apis.bob.createAgent();
    await using client = await open(`/api/v1/mcp/agents/${agentId}`);
    expect(await client.listResources()).toEqual([]);
    const call = { agent_id: agentId, message: 'Read **me**', title: 'A talk', wait_seconds: 30 };
    const { session_id: id } = turnOf(await client.call('create_conversation', call));
    await client.call('write_file', { session_id: id, path: 'docs/a b.txt', content: 'Hello\n' });
    const [listed] = await client.listResources();
    expect(listed).toMatchObject({ uri: `session:///${id}/transcript.md`, title: 'A talk' });
    expect((await client.listTemplates()).length).toBe(3);
    const transcript = await client.read(`session:///${id}/transcript.md`);
    expect(transcript.mimeType).toBe('text/markdown');
    expect(transcript.text).toMatch(
      /^# A talk\n[\s\S]*## User, .*\n\nRead \*\*me\*\*\n\n## Agent, .*\n\nRead \*\*me\*\*\n$/,
    );
    const events = await client.read(`session:///${id}/events.jsonl`);
    const types = events.text
      ?.trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).type);
    expect(types).toEqual(expect.arrayContaining(['session.created', 'user.message', 'agent.message']));
    const file = await client.read(`session:///${id}/files/docs/a%20b.txt`);
    expect(file).toMatchObject({ mimeType: 'text/plain', text: 'Hello\n' });
  });

  it('finds nothing of another user', async () => {
    const agentId = await apis.bob.createAgent({ name: 'Secret' });
    await using bob = await open();
    const call = { agent_id: agentId, message: 'Mine', wait_seconds: 30 };
    const { session_id: id, turn_id: turnId } = turnOf(await bob.call('create_conversation', call));
    // Alice is an administrator.
    await using alice = await open('/api/v1/mcp', tokens.alice);
    expect((await alice.toolNames()).filter((name) => name.startsWith('ask_secret'))).toEqual([]);
    expect((await alice.listResources()).filter(({ uri }) => uri.includes(id))).toEqual([]);
    for (const part of ['transcript.md', 'events.jsonl', 'files/a.txt'])
      await expect(alice.read(`session:///${id}/${part}`)).rejects.toMatchObject({
        code: -32602,
        message: expect.stringContaining('not found'),
      });
    for (const [tool, args] of Object.entries({
      get_agent: { agent_id: agentId },
      create_conversation: { agent_id: agentId, message: 'Hi' },
      get_session: { session_id: id },
      send_message: { session_id: id, message: 'Hi' },
      wait_for_turn: { session_id: id, turn_id: turnId, wait_seconds: 1 },
      list_messages: { session_id: id },
      list_events: { session_id: id },
      list_approvals: { session_id: id },
      interrupt: { session_id: id },
      list_files: { session_id: id },
      read_file: { session_id: id, path: 'a.txt' },
      write_file: { session_id: id, path: 'a.txt', content: 'x' },
    })) {
      const { isError, content } = await alice.call(tool, args);
      expect({ tool, isError, text: content[0]?.text }).toMatchObject({
        tool,
        isError: true,
        text: expect.stringContaining('_NOT_FOUND'),
      });
    }
    expect((await apis.bob.list(`/sessions/${id}/turns`)).length).toBe(1);
  });

  it('gets its own answer while fifty clients use equal request ids', async () => {
    const agentId = await apis.bob.createAgent();
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => open()));
    const messages = clients.map((_, index) => `I am client ${index}`);
    const turns = await Promise.all(
      clients.map(async (client, index) =>
        turnOf(
          await client.call('create_conversation', {
            agent_id: agentId,
            message: messages[index],
            wait_seconds: 50,
          }),
        ),
      ),
    );
    expect(turns.map(({ text }) => text)).toEqual(messages);
    expect(new Set(turns.map((turn) => turn.session_id)).size).toBe(CLIENTS);
    await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()));
  });
});

describe('tasks', () => {
  it('are those of their client while fifty clients of two users use equal request ids', async () => {
    const agents = { alice: await apis.alice.createAgent(), bob: await apis.bob.createAgent() };
    const ended = new Set(['completed', 'failed', 'cancelled']);
    const tasks = await Promise.all(
      Array.from({ length: CLIENTS }, async (_, index) => {
        const user = index % 2 === 0 ? 'alice' : 'bob';
        const token = tokens[user];
        const send = (method: string, params: Record<string, unknown>) =>
          sendMcpRequest(`${team.url}/mcp`, method, params, {
            token,
            capabilities: TASK_CAPABILITIES,
            id: 1,
          });
        const args = { agent_id: agents[user], message: `I am client ${index}` };
        const { result } = await send('tools/call', { name: 'create_conversation', arguments: args });
        const taskId = String(result?.taskId);
        const task = await until('the task has ended', async () => {
          const { result: found } = await send('tasks/get', { taskId });
          return ended.has(String(found?.status)) && found;
        });
        const foreign = user === 'alice' ? tokens.bob : tokens.alice;
        const options = { token: foreign, capabilities: TASK_CAPABILITIES };
        const { error } = await sendMcpRequest(`${team.url}/mcp`, 'tasks/get', { taskId }, options);
        expect(error).toMatchObject({ code: -32602, data: { code: 'TURN_NOT_FOUND' } });
        return {
          taskId,
          ...(task as { result: { structuredContent: TurnResult } }).result.structuredContent,
        };
      }),
    );
    expect(tasks.map(({ text }) => text)).toEqual(tasks.map((_, index) => `I am client ${index}`));
    expect(new Set(tasks.map(({ taskId }) => taskId)).size).toBe(CLIENTS);
  });
});

describe('a turn of 90 s', () => {
  type Connect = (url: string, token: string) => Promise<McpTestClient>;
  const kinds: [string, Connect][] = [
    ['@modelcontextprotocol/client', connectClient],
    ['@modelcontextprotocol/sdk', connectEarlierClient],
  ];
  const begin = async (connect: Connect) => {
    const steps = { text: 'ready', chunk_chars: 5, delay_ms: LONG_MS };
    const args = { agent_id: await apis.bob.createAgent(script(steps)), message: 'Go' };
    return { args, client: await connect(`${team.url}/api/v1/mcp`, tokens.bob) };
  };

  it.concurrent.each(kinds)(
    'is one call of %s that reports progress at least every 10 s',
    async (_, connect) => {
      const { args, client } = await begin(connect);
      await using _disposed = client;
      let reports = 0;
      const outcome = await client.call('create_conversation', args, {
        timeout: LONG_MS / 3,
        resetTimeoutOnProgress: true,
        onprogress: () => reports++,
      });
      expect(turnOf(outcome)).toMatchObject({ status: 'completed', text: 'ready' });
      expect(reports).toBeGreaterThanOrEqual(LONG_MS / 10_000);
    },
    2 * LONG_MS,
  );

  it.concurrent.each(kinds)(
    'is awaited by a second call of %s without progress',
    async (_, connect) => {
      const { args, client } = await begin(connect);
      await using _disposed = client;
      const first = turnOf(await client.call('create_conversation', args));
      expect(first.status).toBe('running');
      const { session_id, turn_id } = first;
      const second = turnOf(await client.call('wait_for_turn', { session_id, turn_id }));
      expect(second).toMatchObject({ session_id, turn_id, status: 'completed', text: 'ready' });
    },
    2 * LONG_MS,
  );
});

describe('subscriptions/listen', () => {
  it('reports changes of resources and tools, and ends with its credential', async () => {
    const browser = await team.logIn('carol');
    const token = await browser.token(['mcp']);
    const api = createApi(team.url, { authorization: `Bearer ${(await browser.token(['write'])).value}` });
    const agentId = await api.createAgent(script({ text: 'soon' }, { text: 'never', delay_ms: NEVER_MS }));
    await using client = await connectClient(`${team.url}/api/v1/mcp`, token.value);
    const call = { agent_id: agentId, message: 'Go', wait_seconds: 0 };
    const { session_id: id } = turnOf(await client.call('create_conversation', call));
    const uri = `session:///${id}/events.jsonl`;
    const foreign = `session:///ses_${'0'.repeat(26)}/transcript.md`;
    const updated: string[] = [];
    let toolChanges = 0;
    client.sdk.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      updated.push(params.uri);
    });
    client.sdk.setNotificationHandler('notifications/tools/list_changed', () => {
      toolChanges++;
    });
    const subscription = await client.sdk.listen({
      resourceSubscriptions: [uri, foreign],
      toolsListChanged: true,
      resourcesListChanged: true,
    });
    expect(subscription.honoredFilter).toEqual({ resourceSubscriptions: [uri], toolsListChanged: true });
    await api.post(`/sessions/${id}/interrupt`);
    await until('the update is reported', () => updated.length > 0);
    expect(new Set(updated)).toEqual(new Set([uri]));
    expect(toolChanges).toBe(0);
    await api.createAgent({ name: 'Another tool' });
    await until('the change of the tools is reported', () => toolChanges > 0);
    await browser.send('DELETE', `/api/v1/auth/tokens/${token.id}`);
    await subscription.closed;
  });
});
