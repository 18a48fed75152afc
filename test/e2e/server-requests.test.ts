import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SessionsServiceDefinition } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { openRunnerSystem, type RunnerSystem, TTL_SECONDS, USER } from '../support/runner-system.ts';
import { AUTHORIZATION, createServerTools, type ServerTools } from '../support/server-tools.ts';

const END = { text: 'The last one: {{last_tool_output}}' };
const call = (tool: string) => ({ tool, input: {} });
const ACCEPT = { contentJson: '{"branch":"main"}' };

describe('calls that wait for a server', () => {
  let server: ServerTools;
  let system: RunnerSystem;
  beforeEach(async () => {
    server = createServerTools();
    system = await openRunnerSystem('once', server.tools);
  });
  afterEach(async () => {
    const broken = await brokenInvariants(system.databaseUrl);
    await system[Symbol.asyncDispose]();
    expect(broken).toEqual([]);
  });

  /** Starts a turn that calls these tools in one step, and waits until it blocks. */
  async function blocked(...tools: string[]): Promise<string> {
    const sessionId = await system.begin([...tools.map(call), END], 'allow');
    await system.reaches(sessionId, 'idle', true);
    return sessionId;
  }
  const eventsOf = async (sessionId: string, type: string) =>
    (await system.journal(sessionId)).filter((event) => event.type === type).map(({ data }) => data);
  const connect = (userId = USER.userId) =>
    system.clientOf('vaults').resolveAuthorizations({ userId, mcpServerId: AUTHORIZATION.mcp_server_id });

  it('go out once each when the user connects', async () => {
    const sessionId = await blocked('server_act', 'server_act');
    expect(await eventsOf(sessionId, 'agent.tool_dispatched')).toEqual([]);
    expect(await system.pending(sessionId)).toHaveLength(1);
    server.isConnected = true;
    expect(await connect()).toEqual({ resolved: 1 });
    await system.reaches(sessionId, 'idle');
    expect(server.runs.map(({ attempt }) => attempt)).toEqual([1, 1]);
    expect(await eventsOf(sessionId, 'agent.tool_use')).toHaveLength(2);
    expect(await connect()).toEqual({ resolved: 0 });
  });

  it('go out once when runner and sessions are killed while they wait and after the decision', async () => {
    const sessionId = await blocked('server_act');
    await system.restart();
    expect(await system.pending(sessionId)).toHaveLength(1);
    server.isConnected = true;
    await system.crash();
    await system.decide((await system.pending(sessionId))[0], 'retry');
    await system.restart();
    await system.reaches(sessionId, 'idle');
    expect(server.runs.map(({ attempt }) => attempt)).toEqual([1]);
  });

  it('tell the model that there is no access after a denial and after expiry', async () => {
    const denied = await blocked('server_act');
    await system.decide((await system.pending(denied))[0], 'deny');
    await system.reaches(denied, 'idle');
    expect(await eventsOf(denied, 'agent.tool_result')).toMatchObject([
      { output: 'No access to GitHub: a person decided to go on without it.', is_error: true },
    ]);
    const expired = await blocked('server_act');
    system.clock.advance(TTL_SECONDS * 1_000);
    await system.reaches(expired, 'idle');
    expect(await eventsOf(expired, 'agent.tool_result')).toMatchObject([
      { output: 'No access to GitHub: the request for it expired.', is_error: true },
    ]);
    expect(server.runs).toEqual([]);
  });

  it('are sent the answer once when runner and sessions are killed before it is sent', async () => {
    const sessionId = await blocked('server_form');
    await system.crash();
    await system.restart();
    await system.crash();
    await system.decide((await system.pending(sessionId))[0], 'accept', ACCEPT);
    await system.restart();
    await system.reaches(sessionId, 'idle');
    expect(server.runs.map(({ attempt, answer }) => [attempt, answer?.decision])).toEqual([
      [1, undefined],
      [2, 'accept'],
    ]);
    expect(await eventsOf(sessionId, 'agent.tool_use')).toHaveLength(1);
    expect(await eventsOf(sessionId, 'agent.tool_result')).toMatchObject([
      { output: 'server_form: accept {"branch":"main"}' },
    ]);
  });

  it('have an unknown outcome when the runner is killed after the answer was sent', async () => {
    const sessionId = await blocked('server_form');
    const release = server.hold();
    await system.decide((await system.pending(sessionId))[0], 'accept', ACCEPT);
    await system.pass('the tool has the answer', async () => server.runs.length === 2);
    await system.crash();
    release();
    await system.restart();
    await system.reaches(sessionId, 'idle', true);
    const [approval] = await system.pending(sessionId);
    expect(approval).toMatchObject({ kind: 'outcome_unknown' });
    expect(server.runs).toHaveLength(2);
    await system.decide(approval, 'retry');
    await system.reaches(sessionId, 'idle');
    expect(server.runs[2]).toMatchObject({ attempt: 3, answer: { content: { branch: 'main' } } });
  });

  it('block the turn with `unavailable` when the retries are spent, and continue after a decision', async () => {
    server.isUnavailable = true;
    const sessionId = await blocked('server_act');
    const [approval] = await system.pending(sessionId);
    expect(JSON.parse(approval?.detailsJson ?? '')).toMatchObject({ name: 'GitHub', reason: 'unavailable' });
    expect((await eventsOf(sessionId, 'session.error')).map((data) => data.retry_status)).toEqual(
      Array(3).fill('retrying'),
    );
    server.isUnavailable = false;
    server.isConnected = true;
    await system.decide(approval, 'retry');
    await system.reaches(sessionId, 'idle');
    expect(server.runs).toHaveLength(1);
  });

  it('end with an interrupt, after which a decision is refused', async () => {
    const sessionId = await blocked('server_act', 'server_form');
    const approvals = await system.pending(sessionId);
    await system.edge.interruptSession({ sessionId }, { caller: USER });
    for (const [approval, decision] of [
      [approvals[0], 'retry'],
      [approvals[1], 'cancel'],
    ] as const)
      await expect(system.decide(approval, decision)).rejects.toMatchObject({
        code: 'APPROVAL_ALREADY_DECIDED',
      });
    await system.reaches(sessionId, 'idle');
    expect(await eventsOf(sessionId, 'agent.tool_result')).toHaveLength(2);
  });
});

describe('ResolveAuthorizations', () => {
  it('is an RPC of the contract that only vaults calls', async () => {
    expect(Object.keys(SessionsServiceDefinition.methods)).toContain('resolveAuthorizations');
    await using system = await openRunnerSystem();
    const request = { userId: USER.userId, mcpServerId: AUTHORIZATION.mcp_server_id };
    for (const peer of ['edge', 'runner', 'agents'])
      await expect(system.clientOf(peer).resolveAuthorizations(request)).rejects.toMatchObject({
        code: 'FORBIDDEN',
      });
  });
});
