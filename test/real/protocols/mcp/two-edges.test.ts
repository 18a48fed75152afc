import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fleet, startFleet } from '../../../support/fleet.ts';
import { connectClient, connectEarlierClient, type ToolOutcome } from '../../../support/mcp-clients.ts';
import { sendMcpRequest } from '../../../support/mcp-requests.ts';
import { connectTaskClient, TASK_CAPABILITIES } from '../../../support/mcp-tasks.ts';
import { freePort } from '../../../support/port.ts';
import { SERVICES } from '../../../support/targets.ts';
import { until } from '../../../support/wait.ts';

const START_MS = 240_000;
const RESTART_MS = 400_000;

/** The members of the result of a turn that tests read. */
interface TurnResult {
  session_id: string;
  turn_id: string;
  status: string;
  text: string;
}

const QUESTION = {
  question: 'Which size?',
  schema: { type: 'object', required: ['size'], properties: { size: { type: 'string', enum: ['S', 'M'] } } },
};

const turnOf = ({ structuredContent }: ToolOutcome) => structuredContent as unknown as TurnResult;

describe('two edges and two instances of each service', () => {
  const stack = new AsyncDisposableStack();
  let fleet: Fleet;
  let here: string;
  let there: string;
  let otherIsReady: () => Promise<boolean>;

  beforeAll(async () => {
    fleet = stack.use(await startFleet());
    // The other edge uses the second instances only. They start one after the other, because each start uses much CPU.
    const addresses: Record<string, string> = {};
    for (const service of SERVICES) {
      const address = `127.0.0.1:${await freePort()}`;
      fleet.add(`${service} 2`, service, { SERVICE_GRPC_LISTEN: address });
      await fleet.run(`${service} 2`);
      await fleet.listening(`${service} 2`);
      addresses[`SERVICE_${service.toUpperCase()}_ADDRESS`] = address;
    }
    const port = String(await freePort());
    const listen = `127.0.0.1:${await freePort()}`;
    fleet.add('edge 2', 'edge', { ...addresses, SERVICE_PORT: port, SERVICE_GRPC_LISTEN: listen });
    await fleet.run('edge 2');
    here = `${fleet.api.origin}/api/v1/mcp`;
    const origin = `http://127.0.0.1:${port}`;
    there = `${origin}/api/v1/mcp`;
    otherIsReady = async () => (await fetch(`${origin}/readyz`).catch(() => undefined))?.ok ?? false;
    await until('the other edge is ready', otherIsReady, START_MS);
  }, START_MS);
  afterAll(() => stack.disposeAsync());

  it('tasks and questions begun at one edge are answered at the other after every process was restarted', {
    timeout: RESTART_MS,
  }, async () => {
    const steps = [{ tool: 'ask_user', input: QUESTION }, { text: 'Chosen: {{last_tool_output}}' }];
    const agentId = await fleet.api.createAgent({ model: 'rehearsal/script', model_options: { steps } });
    const call = {
      name: 'create_conversation',
      arguments: { agent_id: agentId, message: 'Go', wait_seconds: 50 },
    };
    const asked = await sendMcpRequest(here, 'tools/call', call, { capabilities: { elicitation: {} } });
    expect(asked.result).toMatchObject({ resultType: 'input_required' });
    const first = await connectTaskClient(here);
    const begun = await first.callTool('create_conversation', { agent_id: agentId, message: 'Go' });
    if (begun.kind !== 'task') throw new Error(begun.kind);
    const reference = begun.serializeReference();
    const { taskId } = begun.handle;
    await until('the other edge shows the question', async () => {
      const { result } = await sendMcpRequest(
        there,
        'tasks/get',
        { taskId },
        { capabilities: TASK_CAPABILITIES },
      );
      return result?.status === 'input_required';
    });
    await first.close();

    const others = SERVICES.map((service) => `${service} 2`);
    const names = [...fleet.names, ...others, 'edge 2'];
    await Promise.all(names.map((name) => fleet.end(name, 'SIGKILL')));
    for (const name of names) await fleet.run(name);
    await fleet.ready();
    await until('the other edge is ready again', otherIsReady, START_MS);

    await using second = await connectTaskClient(there, {
      answer: () => ({ action: 'accept', content: { size: 'M' } }),
    });
    const resumed = await second.resumeTask(reference);
    expect((await resumed.settle()).outcome).toMatchObject({
      status: 'completed',
      result: { structuredContent: { status: 'completed', text: expect.stringMatching(/Chosen: .*M/) } },
    });
    const [key = ''] = Object.keys(asked.result?.inputRequests as object);
    const inputResponses = { [key]: { action: 'accept', content: { size: 'S' } } };
    const retry = { ...call, inputResponses, requestState: asked.result?.requestState };
    const ended = await sendMcpRequest(there, 'tools/call', retry, { capabilities: { elicitation: {} } });
    expect(ended.result).toMatchObject({
      structuredContent: { status: 'completed', text: expect.stringMatching(/Chosen: .*S/) },
    });
    const { body } = await fleet.api.get(`/sessions?agent_id=${agentId}`);
    expect(body.data).toHaveLength(2);
  });

  it('a conversation begun at one edge is waited for, followed and continued at the other', async () => {
    const steps = [{ text: 'done', chunk_chars: 4, delay_ms: 3_000 }];
    const slow = await fleet.api.createAgent({ model: 'rehearsal/script', model_options: { steps } });
    const agentId = await fleet.api.createAgent();
    await using first = await connectClient(here);
    await using second = await connectEarlierClient(there);
    await using third = await connectClient(there);
    const call = { agent_id: slow, message: 'Go', wait_seconds: 0, idempotency_key: 'one-turn' };
    const begun = turnOf(await first.call('create_conversation', call));
    expect(['running', 'completed']).toContain(begun.status);
    const { session_id: session, turn_id: turn } = begun;
    const wait = { session_id: session, turn_id: turn, wait_seconds: 50 };
    const waits = [first, second, third].map((client) => client.call('wait_for_turn', wait));
    const repeated = turnOf(await second.call('create_conversation', { ...call, wait_seconds: 50 }));
    expect(repeated).toMatchObject({ session_id: session, turn_id: turn, status: 'completed', text: 'done' });
    for (const waited of await Promise.all(waits))
      expect(turnOf(waited)).toMatchObject({ turn_id: turn, status: 'completed', text: 'done' });

    const echo = turnOf(
      await second.call('create_conversation', { agent_id: agentId, message: 'One', wait_seconds: 50 }),
    );
    const updated: string[] = [];
    third.sdk.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      updated.push(params.uri);
    });
    const uri = `session:///${echo.session_id}/transcript.md`;
    const subscription = await third.sdk.listen({ resourceSubscriptions: [uri] });
    const next = { session_id: echo.session_id, message: 'Two', wait_seconds: 50 };
    expect(turnOf(await first.call('send_message', next))).toMatchObject({
      status: 'completed',
      text: 'Two',
    });
    await until('the other edge reports the change', () => updated.includes(uri));
    expect((await third.read(uri)).text).toMatch(/One[\s\S]*One[\s\S]*Two[\s\S]*Two/);

    // A stream ends when its edge stops, and the client continues at the other one.
    expect(await fleet.end('edge 2', 'SIGTERM')).toBe(0);
    expect(await subscription.closed).toBe('graceful');
    expect((await first.read(uri)).text).toContain('Two');
  });
});
