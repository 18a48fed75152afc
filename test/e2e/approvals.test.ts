import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { brokenInvariants } from '../support/invariants.ts';
import { openRunnerSystem, type RunnerSystem, TTL_SECONDS, USER } from '../support/runner-system.ts';

const call = (value: unknown) => ({ tool: 'count', input: { value } });
const END = { text: 'The last one: {{last_tool_output}}' };

describe('approvals of tool calls', () => {
  let system: RunnerSystem;
  beforeEach(async () => {
    system = await openRunnerSystem();
  });
  afterEach(async () => {
    const broken = await brokenInvariants(system.databaseUrl);
    await system[Symbol.asyncDispose]();
    expect(broken).toEqual([]);
  });

  const resultsOf = async (sessionId: string) =>
    (await system.journal(sessionId))
      .filter(({ type }) => type === 'agent.tool_result')
      .map(({ data }) => data);
  const lastText = async (sessionId: string) => {
    const { data } = (await system.journal(sessionId)).findLast(({ type }) => type === 'agent.message') ?? {};
    return (data?.content as { text: string }[] | undefined)?.map(({ text }) => text).join('');
  };
  const values = () => system.toolRuns.map(({ input }) => input.value);

  it('runs allowed calls, and passes the reason of denied calls to the model', async () => {
    const sessionId = await system.begin([call(1), call(2), END], 'ask');
    await system.reaches(sessionId, 'idle', true);
    expect(system.toolRuns).toEqual([]);
    const [one, two] = await system.pending(sessionId);
    await system.decide(one, 'allow');
    await system.decide(two, 'deny', { reason: 'too much' });
    await system.reaches(sessionId, 'idle');
    expect(values()).toEqual([1]);
    expect(await lastText(sessionId)).toContain('too much');
    const results = await resultsOf(sessionId);
    expect(results.map(({ is_error }) => is_error).sort()).toEqual([false, true]);
  });

  it('runs no call of a step before all approvals are decided, across restarts', async () => {
    const sessionId = await system.begin([call(1), call(2), call(3), END], 'ask');
    await system.reaches(sessionId, 'idle', true);
    const approvals = await system.pending(sessionId);
    for (const [index, approval] of approvals.entries()) {
      expect(values()).toEqual([]);
      await system.restart();
      expect(await system.pending(sessionId)).toHaveLength(approvals.length - index);
      await system.decide(approval, 'allow');
    }
    await system.reaches(sessionId, 'idle');
    expect(values().sort()).toEqual([1, 2, 3]);
  });

  it('runs a call with its edited input and informs the model', async () => {
    const sessionId = await system.begin([call(1), END], 'ask');
    await system.reaches(sessionId, 'idle', true);
    await system.decide((await system.pending(sessionId))[0], 'allow', { editedInputJson: '{ "value": 7 }' });
    await system.reaches(sessionId, 'idle');
    expect(values()).toEqual([7]);
    expect(await resultsOf(sessionId)).toMatchObject([{ edited_input: { value: 7 }, output: 'counted 7' }]);
    expect(await lastText(sessionId)).toContain('{"value":7}');
  });

  it('does not run a call whose edited input is invalid', async () => {
    const sessionId = await system.begin([call(1), END], 'ask');
    await system.reaches(sessionId, 'idle', true);
    await system.decide((await system.pending(sessionId))[0], 'allow', { editedInputJson: '{"value":"x"}' });
    await system.reaches(sessionId, 'idle');
    expect(values()).toEqual([]);
    expect(await resultsOf(sessionId)).toMatchObject([{ is_error: true }]);
  });

  it('denies expired approvals and does not attribute the decision to a person', async () => {
    const sessionId = await system.begin([call(1), END], 'ask');
    await system.reaches(sessionId, 'idle', true);
    system.clock.advance(TTL_SECONDS * 1_000);
    await system.reaches(sessionId, 'idle');
    expect(values()).toEqual([]);
    expect(await lastText(sessionId)).toContain('The approval of this tool call expired');
    expect(await lastText(sessionId)).not.toContain('person');
  });

  it('cancels the approvals of an interrupted turn and answers the next message', async () => {
    const sessionId = await system.begin([call(1), END], 'ask');
    await system.reaches(sessionId, 'idle', true);
    const [approval] = await system.pending(sessionId);
    await system.edge.interruptSession({ sessionId }, { caller: USER });
    await expect(system.decide(approval, 'allow')).rejects.toMatchObject({
      code: 'APPROVAL_ALREADY_DECIDED',
    });
    const contentJson = JSON.stringify([{ type: 'text', text: 'again' }]);
    const message = { sessionId, contentJson, busyPolicy: 'enqueue', idempotencyKey: '' };
    await system.edge.sendMessage(message, { caller: USER });
    await system.reaches(sessionId, 'idle', true);
    await system.decide((await system.pending(sessionId))[0], 'allow');
    await system.reaches(sessionId, 'idle');
    expect(values()).toEqual([1]);
  });

  it('requests a new approval after each crash before it repeats a tool call', async () => {
    let release = system.hold();
    const sessionId = await system.begin([call(1), END], 'allow');
    for (const runs of [1, 2, 3]) {
      await system.pass('the tool runs', async () => system.toolRuns.length === runs);
      await system.crash();
      release();
      await system.restart();
      await system.reaches(sessionId, 'idle', true);
      const [approval] = await system.pending(sessionId);
      expect(approval).toMatchObject({ kind: 'outcome_unknown', toolName: 'count' });
      if (runs < 3) release = system.hold();
      await system.decide(approval, 'retry');
    }
    await system.reaches(sessionId, 'idle');
    expect(system.toolRuns.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4]);
    expect(await lastText(sessionId)).toBe('The last one: counted 1');
  });

  it.each([
    ['mark_done', false],
    ['mark_failed', true],
  ])('records the outcome that a user states for an interrupted call: %s', async (decision, isError) => {
    const release = system.hold();
    const sessionId = await system.begin([call(1), END], 'allow');
    await system.pass('the tool runs', async () => system.toolRuns.length === 1);
    await system.crash();
    release();
    await system.restart();
    await system.reaches(sessionId, 'idle', true);
    await system.decide((await system.pending(sessionId))[0], decision, { reason: 'I looked' });
    await system.reaches(sessionId, 'idle');
    expect(await resultsOf(sessionId)).toMatchObject([{ is_error: isError }]);
    expect(await lastText(sessionId)).toContain('I looked');
    expect(system.toolRuns).toHaveLength(1);
  });

  it('does not reuse an approval for a second run after a crash', async () => {
    const sessionId = await system.begin([call(1), END], 'ask');
    await system.reaches(sessionId, 'idle', true);
    const release = system.hold();
    await system.decide((await system.pending(sessionId))[0], 'allow', { editedInputJson: '{"value":5}' });
    await system.pass('the tool runs', async () => system.toolRuns.length === 1);
    await system.crash();
    release();
    await system.restart();
    await system.reaches(sessionId, 'idle', true);
    expect(values()).toEqual([5]);
    const [approval] = await system.pending(sessionId);
    expect(approval).toMatchObject({ kind: 'outcome_unknown', inputJson: '{"value":5}' });
    await system.decide(approval, 'retry');
    await system.reaches(sessionId, 'idle');
    expect(values()).toEqual([5, 5]);
  });
});
