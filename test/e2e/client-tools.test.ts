import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { brokenInvariants } from '../support/invariants.ts';
import { openRunnerSystem, type RunnerSystem, TTL_SECONDS, USER } from '../support/runner-system.ts';

const TOOL = {
  name: 'locate',
  permission: '',
  client: { description: 'Locates the device.', inputSchemaJson: '{"type":"object"}' },
};
const call = { tool: 'locate', input: {} };
const count = (value: number) => ({ tool: 'count', input: { value } });
const END = { text: 'The last one: {{last_tool_output}}' };
const PAGE = { limit: 100, cursor: '' };

describe('tools that the client runs', () => {
  let system: RunnerSystem;
  beforeEach(async () => {
    system = await openRunnerSystem();
  });
  afterEach(async () => {
    const broken = await brokenInvariants(system.databaseUrl);
    await system[Symbol.asyncDispose]();
    expect(broken).toEqual([]);
  });

  const begin = (steps: unknown[]) => system.begin([...steps, END], 'ask', [TOOL]);
  const submit = (sessionId: string, toolUseId: string, output: unknown) =>
    system.edge.submitToolResult(
      { sessionId, toolUseId, outputJson: JSON.stringify(output), isError: false },
      { caller: USER },
    );
  const calls = async (sessionId: string, status = '') =>
    (await system.edge.listToolCalls({ sessionId, status, page: PAGE }, { caller: USER })).toolCalls;
  const lastText = async (sessionId: string) => {
    const { data } = (await system.journal(sessionId)).findLast(({ type }) => type === 'agent.message') ?? {};
    return (data?.content as { text: string }[] | undefined)?.map(({ text }) => text).join('');
  };
  const waits = (sessionId: string) => system.reaches(sessionId, 'idle', true);

  it('wait for the client across restarts of all services, without a runner', async () => {
    const sessionId = await begin([call, call]);
    await waits(sessionId);
    for (const toolUseId of ['call_1_2', 'call_1_1']) {
      await system.crash();
      await system.restart();
      await submit(sessionId, toolUseId, toolUseId);
    }
    await system.reaches(sessionId, 'idle');
    expect(await lastText(sessionId)).toBe('The last one: call_1_2');
  });

  it('take a result while no runner exists, which the next runner passes to the model', async () => {
    const sessionId = await begin([call]);
    await waits(sessionId);
    await system.crash();
    await submit(sessionId, 'call_1_1', 'here');
    expect(await calls(sessionId)).toMatchObject([{ status: 'answered', outputJson: '"here"' }]);
    await system.restart();
    await system.reaches(sessionId, 'idle');
    expect(await lastText(sessionId)).toBe('The last one: here');
  });

  it('give the model an error when the client does not answer in time', async () => {
    const sessionId = await begin([call]);
    await waits(sessionId);
    system.clock.advance(TTL_SECONDS * 1_000);
    await system.reaches(sessionId, 'idle');
    expect(await lastText(sessionId)).toContain('not answered in time');
    expect(await calls(sessionId)).toMatchObject([{ status: 'expired', answeredBy: '' }]);
    await expect(submit(sessionId, 'call_1_1', 1)).rejects.toMatchObject({ code: 'TOOL_CALL_CLOSED' });
  });

  it('expire together with the approvals of their step', async () => {
    const sessionId = await begin([count(1), call]);
    await waits(sessionId);
    expect(await system.pending(sessionId)).toHaveLength(1);
    system.clock.advance(TTL_SECONDS * 1_000);
    await system.reaches(sessionId, 'idle');
    expect(system.toolRuns).toEqual([]);
  });

  it('do not delay calls that the service runs, and wait for their approvals', async () => {
    const sessionId = await begin([count(1), call, count(2)]);
    await waits(sessionId);
    await submit(sessionId, 'call_1_2', 'here');
    const approvals = await system.pending(sessionId);
    expect(approvals).toHaveLength(2);
    expect(system.toolRuns).toEqual([]);
    for (const approval of approvals) await system.decide(approval, 'allow');
    await system.reaches(sessionId, 'idle');
    expect(system.toolRuns).toHaveLength(2);
  });

  it('keep an answer when a call of the same step is cut off by a crash', async () => {
    const sessionId = await begin([count(1), call]);
    await waits(sessionId);
    await submit(sessionId, 'call_1_2', 'here');
    const release = system.hold();
    await system.decide((await system.pending(sessionId))[0], 'allow');
    await system.pass('the tool runs', async () => system.toolRuns.length === 1);
    await system.crash();
    release();
    await system.restart();
    await waits(sessionId);
    await system.decide((await system.pending(sessionId))[0], 'mark_done');
    await system.reaches(sessionId, 'idle');
    expect(await calls(sessionId)).toMatchObject([{ status: 'answered' }]);
    expect(await lastText(sessionId)).toBe('The last one: here');
  });

  it('are cancelled with an interrupted turn, and the next message is answered', async () => {
    const sessionId = await begin([call]);
    await waits(sessionId);
    await system.edge.interruptSession({ sessionId }, { caller: USER });
    await expect(submit(sessionId, 'call_1_1', 1)).rejects.toMatchObject({ code: 'TOOL_CALL_CLOSED' });
    const contentJson = JSON.stringify([{ type: 'text', text: 'again' }]);
    const message = { sessionId, contentJson, busyPolicy: 'enqueue', idempotencyKey: '' };
    await system.edge.sendMessage(message, { caller: USER });
    await waits(sessionId);
    await submit(sessionId, 'call_2_1', 'there');
    await system.reaches(sessionId, 'idle');
    expect((await calls(sessionId)).map(({ status }) => status)).toEqual(['answered', 'cancelled']);
  });

  it('keep the session pending and in need of input while a message is queued behind them', async () => {
    const sessionId = await begin([call]);
    await waits(sessionId);
    const contentJson = JSON.stringify([{ type: 'text', text: 'again' }]);
    const message = { sessionId, contentJson, busyPolicy: 'enqueue', idempotencyKey: '' };
    await system.edge.sendMessage(message, { caller: USER });
    const { session } = await system.edge.getSession({ sessionId }, { caller: USER });
    expect(session).toMatchObject({ state: 'needs_input', needsAction: true });
    await submit(sessionId, 'call_1_1', 'here');
    await waits(sessionId);
    await submit(sessionId, 'call_2_1', 'there');
    await system.reaches(sessionId, 'idle');
  });

  it('are refused early, and accepted when the turn has stopped for them', async () => {
    const sessionId = await system.begin([count(1), call, END], 'allow', [TOOL]);
    const release = system.hold();
    await system.pass('the tool runs', async () => system.toolRuns.length === 1);
    await expect(submit(sessionId, 'call_1_2', 1)).rejects.toMatchObject({ code: 'SESSION_BUSY' });
    release();
    await waits(sessionId);
    await submit(sessionId, 'call_1_2', 1);
    await system.reaches(sessionId, 'idle');
  });
});
