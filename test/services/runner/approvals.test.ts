import { describe, expect, it } from 'vitest';
import type { CallDecision } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { queuedTurn } from './fake-sessions.ts';
import { calling, createRecordingTool } from './recording-tool.ts';
import { dataOf, lastTextOf, openTestRunner, outcomeOf, script, typesOf } from './runner-fixture.ts';

const END_TURN = { $case: 'completed', value: { stopReason: 'end_turn' } };
const FIRST = 'call_1_1';
const SECOND = 'call_1_2';

/** Runs a turn with one call that needs approval, and decides about the call. */
async function runWithDecision(decision: Partial<CallDecision>, transport = TRANSPORTS[0]) {
  const count = createRecordingTool({ permission: 'ask' });
  await using fixture = await openTestRunner({ transport, tools: [count.tool] });
  fixture.queueTurns(calling('a'), queuedTurn('trn_1', ''));
  await fixture.waitForOutcome('trn_1');
  fixture.requeue('trn_1', { [FIRST]: decision });
  const journal = await fixture.waitForOutcome('trn_1', 2);
  return { journal, runs: count.runs, result: dataOf(journal, 'agent.tool_result')[0] };
}

describe.each(TRANSPORTS)('a tool call that needs approval, %s', (transport) => {
  it('blocks the turn and sends the request for approval', async () => {
    const count = createRecordingTool({ permission: 'ask' });
    await using fixture = await openTestRunner({ transport, tools: [count.tool] });
    fixture.queueTurns(calling('a'), queuedTurn('trn_1', ''));
    const journal = await fixture.waitForOutcome('trn_1');
    const ask = { kind: 'tool', toolUseId: FIRST, toolName: 'count', inputJson: '{"label":"a"}' };
    expect(outcomeOf(journal)).toEqual({ $case: 'blocked', value: { asks: [ask] } });
    expect(dataOf(journal, 'agent.tool_use')).toMatchObject([{ evaluated_permission: 'ask' }]);
    expect(typesOf(journal)).not.toContain('agent.tool_dispatched');
    expect(count.runs).toEqual([]);
    expect(journal.usage.toolCalls).toBe(0);
  });

  it('runs after it is approved, and the turn continues', async () => {
    const { journal, runs, result } = await runWithDecision({ decision: 'allow' }, transport);
    expect(runs.map(({ label }) => label)).toEqual(['a']);
    expect(result).toEqual({ tool_use_id: FIRST, output: 'done a', is_error: false, duration_ms: 0 });
    expect(lastTextOf(journal)).toBe('done a');
    expect(outcomeOf(journal)).toEqual(END_TURN);
    expect(journal.usage).toMatchObject({ steps: 2, toolCalls: 1 });
  });
});

describe('the decision about an approval', () => {
  it('gives the model the reason of a denial', async () => {
    const { journal, runs, result } = await runWithDecision({ decision: 'deny', reason: 'too dear' });
    expect(runs).toEqual([]);
    expect(result).toMatchObject({ output: 'Denied by a person: too dear', is_error: true });
    expect(lastTextOf(journal)).toBe('Denied by a person: too dear');
    expect((await runWithDecision({ decision: 'deny' })).result).toMatchObject({
      output: 'Denied by a person: no reason was given',
    });
  });

  it('gives the model an error after it expired', async () => {
    const { runs, result } = await runWithDecision({ decision: 'expired', reason: 'expired' });
    expect(runs).toEqual([]);
    expect(result).toMatchObject({
      output: 'The approval of this tool call expired, so the tool was not run.',
      is_error: true,
    });
  });

  it('runs the tool with the edited input and informs the model of the edit', async () => {
    const inputJson = '{ "label": "b" }';
    const { journal, runs, result } = await runWithDecision({ decision: 'allow', inputJson });
    expect(runs.map(({ label }) => label)).toEqual(['b']);
    expect(result).toMatchObject({ output: 'done b', edited_input: { label: 'b' } });
    expect(lastTextOf(journal)).toBe(
      'A person has changed the input of this call. It was called with {"label":"b"}\n\ndone b',
    );
  });

  it('gives the model an error when the edited input is invalid', async () => {
    const { runs, result } = await runWithDecision({ decision: 'allow', inputJson: '{"label":5}' });
    expect(runs).toEqual([]);
    expect(result).toMatchObject({
      output: 'The input was refused and the tool was not run: /label must be string',
      is_error: true,
      edited_input: { label: 5 },
    });
  });

  const WRONG_SHA256 = 'f'.repeat(64);
  it.each<[string, Partial<CallDecision>]>([
    ['an approval with a wrong checksum', { inputSha256: WRONG_SHA256 }],
    [
      'an approval with an edited input and a wrong checksum',
      { inputJson: '{"label":"b"}', inputSha256: WRONG_SHA256 },
    ],
    [
      'an approval of another input that is not marked as edited',
      { inputJson: '{"label":"b"}', edited: false },
    ],
    ['an approval without an input', { inputJson: '' }],
  ])('does not run the tool for %s', async (_, decision) => {
    const { runs, result } = await runWithDecision({ decision: 'allow', ...decision });
    expect(runs).toEqual([]);
    expect(result).toMatchObject({
      output: 'The approved input differs from the input of this call, so the tool was not run.',
      is_error: true,
    });
  });
});

describe('several tool calls of one step', () => {
  const mixed = script(
    { tool: 'count', input: { label: 'a' } },
    { tool: 'calculator', input: { expression: '6 * 7' } },
    { tool: 'count', input: { label: 'b' } },
    { tool: 'count', input: {} },
    { text: '{{last_tool_output}}' },
  );

  it('run without approval where possible and request all approvals together', async () => {
    const count = createRecordingTool({ permission: 'ask' });
    await using fixture = await openTestRunner({ tools: [count.tool] });
    fixture.queueTurns(mixed, queuedTurn('trn_1', ''));
    const journal = await fixture.waitForOutcome('trn_1');
    const results = dataOf(journal, 'agent.tool_result');
    expect(results.map(({ tool_use_id, is_error }) => [tool_use_id, is_error])).toEqual([
      ['call_1_4', true],
      [SECOND, false],
    ]);
    expect(outcomeOf(journal)).toMatchObject({
      $case: 'blocked',
      value: { asks: [{ toolUseId: FIRST }, { toolUseId: 'call_1_3' }] },
    });
  });

  it('return their results together in call order', async () => {
    const count = createRecordingTool({ permission: 'ask' });
    await using fixture = await openTestRunner({ tools: [count.tool] });
    fixture.queueTurns(mixed, queuedTurn('trn_1', ''));
    await fixture.waitForOutcome('trn_1');
    fixture.requeue('trn_1', {
      [FIRST]: { decision: 'deny', reason: 'no' },
      call_1_3: { decision: 'allow' },
    });
    const journal = await fixture.waitForOutcome('trn_1', 2);
    expect(count.runs.map(({ label }) => label)).toEqual(['b']);
    expect(dataOf(journal, 'agent.tool_result').map((one) => one.tool_use_id)).toEqual([
      'call_1_4',
      SECOND,
      FIRST,
      'call_1_3',
    ]);
    // The last call in the order of the step, not of the results.
    expect(lastTextOf(journal)).toContain('required properties label');
    expect(outcomeOf(journal)).toEqual(END_TURN);
  });

  it('request only the undecided approvals again', async () => {
    const count = createRecordingTool({ permission: 'ask' });
    await using fixture = await openTestRunner({ tools: [count.tool] });
    fixture.queueTurns(calling('a', 'b'), queuedTurn('trn_1', ''));
    await fixture.waitForOutcome('trn_1');
    fixture.requeue('trn_1', { [SECOND]: { decision: 'allow' } });
    const partly = await fixture.waitForOutcome('trn_1', 2);
    expect(count.runs.map(({ label }) => label)).toEqual(['b']);
    expect(outcomeOf(partly)).toMatchObject({ $case: 'blocked', value: { asks: [{ toolUseId: FIRST }] } });
    fixture.requeue('trn_1', { [FIRST]: { decision: 'allow' } });
    const journal = await fixture.waitForOutcome('trn_1', 3);
    expect(count.runs.map(({ label }) => label)).toEqual(['b', 'a']);
    expect(outcomeOf(journal)).toEqual(END_TURN);
    expect(journal.usage).toMatchObject({ steps: 2, toolCalls: 2 });
  });

  it('run after the runner crashes between approval and call', async () => {
    const count = createRecordingTool({ permission: 'ask' });
    await using fixture = await openTestRunner({ tools: [count.tool] });
    fixture.queueTurns(calling('a'), queuedTurn('trn_1', ''));
    await fixture.waitForOutcome('trn_1');
    await fixture.crash();
    fixture.requeue('trn_1', { [FIRST]: { decision: 'allow' } });
    expect(outcomeOf(await fixture.waitForOutcome('trn_1', 2))).toEqual(END_TURN);
    expect(count.runs.length).toBe(1);
  });
});
