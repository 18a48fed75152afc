import { describe, expect, it } from 'vitest';
import type { CallDecision } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { calling, createCountingTool } from './counting.ts';
import { dataOf, lastTextOf, open, outcomeOf, script, typesOf } from './open.ts';
import { asked } from './sessions.ts';

const END_TURN = { $case: 'completed', value: { stopReason: 'end_turn' } };
const FIRST = 'call_1_1';
const SECOND = 'call_1_2';

/** A turn whose one call was asked about, and what then becomes of it. */
async function decided(decision: Partial<CallDecision>, transport = TRANSPORTS[0]) {
  const count = createCountingTool({ permission: 'ask' });
  await using world = await open({ transport, tools: [count.tool] });
  world.ask(calling('a'), asked('trn_1', ''));
  await world.ended('trn_1');
  world.again('trn_1', { [FIRST]: decision });
  const journal = await world.ended('trn_1', 2);
  return { journal, runs: count.runs, result: dataOf(journal, 'agent.tool_result')[0] };
}

describe.each(TRANSPORTS)('a call that needs an approval, %s', (transport) => {
  it('blocks the turn, and says what it would be', async () => {
    const count = createCountingTool({ permission: 'ask' });
    await using world = await open({ transport, tools: [count.tool] });
    world.ask(calling('a'), asked('trn_1', ''));
    const journal = await world.ended('trn_1');
    const ask = { kind: 'tool', toolUseId: FIRST, toolName: 'count', inputJson: '{"label":"a"}' };
    expect(outcomeOf(journal)).toEqual({ $case: 'blocked', value: { asks: [ask] } });
    expect(dataOf(journal, 'agent.tool_use')).toMatchObject([{ evaluated_permission: 'ask' }]);
    expect(typesOf(journal)).not.toContain('agent.tool_dispatched');
    expect(count.runs).toEqual([]);
    expect(journal.usage.toolCalls).toBe(0);
  });

  it('is run once it is allowed, and the turn goes on', async () => {
    const { journal, runs, result } = await decided({ decision: 'allow' }, transport);
    expect(runs.map(({ label }) => label)).toEqual(['a']);
    expect(result).toEqual({ tool_use_id: FIRST, output: 'done a', is_error: false, duration_ms: 0 });
    expect(lastTextOf(journal)).toBe('done a');
    expect(outcomeOf(journal)).toEqual(END_TURN);
    expect(journal.usage).toMatchObject({ steps: 2, toolCalls: 1 });
  });
});

describe('a decision', () => {
  it('to deny is told to the model with its reason', async () => {
    const { journal, runs, result } = await decided({ decision: 'deny', reason: 'too dear' });
    expect(runs).toEqual([]);
    expect(result).toMatchObject({ output: 'Denied by a person: too dear', is_error: true });
    expect(lastTextOf(journal)).toBe('Denied by a person: too dear');
    expect((await decided({ decision: 'deny' })).result).toMatchObject({
      output: 'Denied by a person: no reason was given',
    });
  });

  it('that nobody made in time is not told as somebody’s', async () => {
    const { runs, result } = await decided({ decision: 'expired', reason: 'expired' });
    expect(runs).toEqual([]);
    expect(result).toMatchObject({
      output: 'Nobody decided in time whether this tool may be used, so it was not run.',
      is_error: true,
    });
  });

  it('that changes the input is carried out as it is written, and the model is told', async () => {
    const inputJson = '{ "label": "b" }';
    const { journal, runs, result } = await decided({ decision: 'allow', inputJson });
    expect(runs.map(({ label }) => label)).toEqual(['b']);
    expect(result).toMatchObject({ output: 'done b', edited_input: { label: 'b' } });
    expect(lastTextOf(journal)).toBe(
      'A person has changed the input of this call. It was called with {"label":"b"}\n\ndone b',
    );
  });

  it('that changes the input into one that the tool does not take is told so', async () => {
    const { runs, result } = await decided({ decision: 'allow', inputJson: '{"label":5}' });
    expect(runs).toEqual([]);
    expect(result).toMatchObject({
      output: 'The input was refused and the tool was not run: /label must be string',
      is_error: true,
      edited_input: { label: 5 },
    });
  });

  const FALSE_SUM = 'f'.repeat(64);
  it.each<[string, Partial<CallDecision>]>([
    ['whose sum is wrong', { inputSha256: FALSE_SUM }],
    ['whose changed input has a wrong sum', { inputJson: '{"label":"b"}', inputSha256: FALSE_SUM }],
    ['that is of another input, without a change', { inputJson: '{"label":"b"}', edited: false }],
    ['without an input', { inputJson: '' }],
  ])('%s is not carried out', async (_, decision) => {
    const { runs, result } = await decided({ decision: 'allow', ...decision });
    expect(runs).toEqual([]);
    expect(result).toMatchObject({
      output: 'What was approved is not what this tool would be called with, so it was not run.',
      is_error: true,
    });
  });
});

describe('several calls of one step', () => {
  const mixed = script(
    { tool: 'count', input: { label: 'a' } },
    { tool: 'calculator', input: { expression: '6 * 7' } },
    { tool: 'count', input: { label: 'b' } },
    { tool: 'count', input: {} },
    { text: '{{last_tool_output}}' },
  );

  it('run as far as they may; then everything is asked in one question', async () => {
    const count = createCountingTool({ permission: 'ask' });
    await using world = await open({ tools: [count.tool] });
    world.ask(mixed, asked('trn_1', ''));
    const journal = await world.ended('trn_1');
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

  it('are told to the model together, in their order, whatever was decided when', async () => {
    const count = createCountingTool({ permission: 'ask' });
    await using world = await open({ tools: [count.tool] });
    world.ask(mixed, asked('trn_1', ''));
    await world.ended('trn_1');
    world.again('trn_1', { [FIRST]: { decision: 'deny', reason: 'no' }, call_1_3: { decision: 'allow' } });
    const journal = await world.ended('trn_1', 2);
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

  it('are asked about again as far as nobody has decided', async () => {
    const count = createCountingTool({ permission: 'ask' });
    await using world = await open({ tools: [count.tool] });
    world.ask(calling('a', 'b'), asked('trn_1', ''));
    await world.ended('trn_1');
    world.again('trn_1', { [SECOND]: { decision: 'allow' } });
    const partly = await world.ended('trn_1', 2);
    expect(count.runs.map(({ label }) => label)).toEqual(['b']);
    expect(outcomeOf(partly)).toMatchObject({ $case: 'blocked', value: { asks: [{ toolUseId: FIRST }] } });
    world.again('trn_1', { [FIRST]: { decision: 'allow' } });
    const journal = await world.ended('trn_1', 3);
    expect(count.runs.map(({ label }) => label)).toEqual(['b', 'a']);
    expect(outcomeOf(journal)).toEqual(END_TURN);
    expect(journal.usage).toMatchObject({ steps: 2, toolCalls: 2 });
  });

  it('survive a runner that goes between the decision and the call', async () => {
    const count = createCountingTool({ permission: 'ask' });
    await using world = await open({ tools: [count.tool] });
    world.ask(calling('a'), asked('trn_1', ''));
    await world.ended('trn_1');
    await world.crash();
    world.again('trn_1', { [FIRST]: { decision: 'allow' } });
    expect(outcomeOf(await world.ended('trn_1', 2))).toEqual(END_TURN);
    expect(count.runs.length).toBe(1);
  });
});
