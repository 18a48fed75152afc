import { describe, expect, it } from 'vitest';
import { ToolError } from '../../../services/runner/tool-calls/tool-error.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { until } from '../../support/wait.ts';
import { message, queuedTurn } from './fake-sessions.ts';
import { calling, createRecordingTool, pendingAnswer } from './recording-tool.ts';
import { dataOf, lastTextOf, openTestRunner, outcomeOf, script, typesOf } from './runner-fixture.ts';

const END_TURN = { $case: 'completed', value: { stopReason: 'end_turn' } };

describe.each(TRANSPORTS)('a tool call, %s', (transport) => {
  it('is journaled, dispatched and answered, and the model continues', async () => {
    const count = createRecordingTool();
    await using fixture = await openTestRunner({ transport, tools: [count.tool] });
    fixture.queueTurns(calling('a'), queuedTurn('trn_1', ''));
    const journal = await fixture.waitForOutcome('trn_1');
    expect(typesOf(journal)).toEqual([
      'model.request_started',
      'agent.message',
      'agent.tool_use',
      'model.request_finished',
      'agent.tool_dispatched',
      'agent.tool_result',
      'model.request_started',
      'agent.message',
      'model.request_finished',
    ]);
    const id = 'call_1_1';
    expect(dataOf(journal, 'agent.message')[0]).toMatchObject({
      content: [{ type: 'tool-call', toolCallId: id, toolName: 'count', input: { label: 'a' } }],
      finish_reason: 'tool-calls',
    });
    expect(dataOf(journal, 'agent.tool_use')).toEqual([
      { tool_use_id: id, name: 'count', input: { label: 'a' }, evaluated_permission: 'allow' },
    ]);
    expect(dataOf(journal, 'agent.tool_dispatched')).toEqual([{ tool_use_id: id, attempt: 1, fence: 1 }]);
    expect(dataOf(journal, 'agent.tool_result')).toEqual([
      { tool_use_id: id, output: 'done a', is_error: false, duration_ms: 0 },
    ]);
    expect(lastTextOf(journal)).toBe('done a');
    expect(outcomeOf(journal)).toEqual(END_TURN);
    expect(journal.usage).toMatchObject({ steps: 2, toolCalls: 1 });
    expect(count.runs).toMatchObject([{ label: 'a', call: { toolUseId: id, attempt: 1 } }]);
  });

  it('does not run before its dispatch is journaled', async () => {
    const count = createRecordingTool();
    await using fixture = await openTestRunner({ transport, tools: [count.tool] });
    const answer = Promise.withResolvers<void>();
    fixture.sessions.after.report = () => answer.promise;
    fixture.queueTurns(calling('a'), queuedTurn('trn_1', ''));
    await until('its dispatch is appended', () =>
      typesOf(fixture.sessions.journalOf('trn_1')).includes('agent.tool_dispatched'),
    );
    await fixture.advanceUntil('another claim is sent', () => fixture.sessions.claims.length > 1, 100);
    expect(count.runs).toEqual([]);
    fixture.sessions.after.report = undefined;
    answer.resolve();
    await fixture.waitForOutcome('trn_1');
    expect(count.runs.length).toBe(1);
  });

  it('runs concurrently with the other calls of its step, and the model gets all results together', async () => {
    const count = createRecordingTool();
    const waiting = pendingAnswer();
    count.answer = waiting.answer;
    await using fixture = await openTestRunner({ transport, tools: [count.tool] });
    fixture.queueTurns(calling('a', 'b', 'c'), queuedTurn('trn_1', ''));
    await until('all tools run', () => count.runs.length === 3);
    waiting.release();
    const journal = await fixture.waitForOutcome('trn_1');
    expect(count.runs.map(({ label }) => label)).toEqual(['a', 'b', 'c']);
    const ids = ['call_1_1', 'call_1_2', 'call_1_3'];
    expect(dataOf(journal, 'agent.tool_use').map((one) => one.tool_use_id)).toEqual(ids);
    expect(dataOf(journal, 'agent.tool_result').map((one) => one.tool_use_id)).toEqual(ids);
    expect(dataOf(journal, 'agent.message').length).toBe(2);
    expect(journal.usage).toMatchObject({ steps: 2, toolCalls: 3 });
  });
});

describe('the id of a tool call', () => {
  it('gets a suffix when the turn already has a call with that id', async () => {
    const count = createRecordingTool();
    await using fixture = await openTestRunner({ tools: [count.tool] });
    const input = { label: 'a' };
    const before = { type: 'tool-call', toolCallId: 'call_1_2', toolName: 'count', input };
    const result = { tool_use_id: 'call_1_2', output: 'done a', is_error: false };
    const messages = [
      message('trn_1', 1, 'user.message', ''),
      message('trn_1', 2, 'agent.message', [before]),
      {
        seq: 3,
        type: 'agent.tool_result',
        json: JSON.stringify({ seq: 3, type: 'agent.tool_result', turn_id: 'trn_1', data: result }),
      },
    ];
    const steps = [{ tool: 'count', input }, { text: '{{last_tool_output}}' }, { tool: 'count', input }];
    fixture.queueTurns(script(...steps), { turnId: 'trn_1', messages, attempt: 2 });
    const journal = await fixture.waitForOutcome('trn_1');
    expect(dataOf(journal, 'agent.message')[0]?.content).toMatchObject([
      { text: 'done a' },
      { type: 'tool-call', toolCallId: 'call_1_2_2' },
    ]);
    expect(dataOf(journal, 'agent.tool_result').map((one) => one.tool_use_id)).toEqual(['call_1_2_2']);
    expect(count.runs.length).toBe(1);
    expect(outcomeOf(journal)).toEqual(END_TURN);
  });
});

describe('the history of earlier turns', () => {
  it('contains the results of their calls and an error for unanswered calls', async () => {
    await using fixture = await openTestRunner();
    const call = (toolCallId: string) => ({ type: 'tool-call', toolCallId, toolName: 'count', input: {} });
    const messages = [
      message('trn_1', 1, 'user.message', 'one'),
      message('trn_1', 2, 'agent.message', [{ type: 'text', text: 'wait' }, call('x'), call('y')]),
      message('trn_2', 3, 'user.message', 'two'),
    ];
    fixture.queueTurns(script({ text: '{{last_tool_output}}' }), { turnId: 'trn_2', messages });
    expect(lastTextOf(await fixture.waitForOutcome('trn_2'))).toBe(
      'The turn ended before this tool was run.',
    );
  });
});

describe('the result of a tool call', () => {
  const result = async (runtime: Parameters<typeof calling>, answer?: () => unknown) => {
    const count = createRecordingTool();
    if (answer) count.answer = answer;
    await using fixture = await openTestRunner({ tools: [count.tool] });
    fixture.queueTurns(calling(...runtime), queuedTurn('trn_1', ''));
    const journal = await fixture.waitForOutcome('trn_1');
    expect(outcomeOf(journal)).toEqual(END_TURN);
    return dataOf(journal, 'agent.tool_result')[0];
  };
  const fail = () => {
    throw new ToolError('the printer is on fire');
  };

  it('is the text or JSON that the tool returned', async () => {
    expect(await result(['a'], () => 'a text\0\uD83D')).toMatchObject({ output: 'a text\0\uD83D' });
    expect(await result(['a'], () => ({ n: [1, null] }))).toMatchObject({ output: { n: [1, null] } });
    expect(await result(['a'], () => undefined)).toMatchObject({ output: null, is_error: false });
  });

  it('is an error with the message of a ToolError', async () => {
    const expected = { output: 'the printer is on fire', is_error: true };
    expect(await result(['a'], fail)).toMatchObject(expected);
    expect(await result(['a'], async () => fail())).toMatchObject(expected);
    expect(await result(['a'], () => 1n)).toMatchObject({ is_error: true });
  });

  it('is cut at the size limit and ends with a note', async () => {
    const long = await result(['a'], () => 'é'.repeat(200_000));
    expect(String(long?.output)).toMatch(/^é+\n\[The output was cut: it has 400000 bytes/);
    expect(Buffer.byteLength(String(long?.output))).toBeLessThan(257 * 1024);
    const json = await result(['a'], () => ({ long: 'x'.repeat(300_000) }));
    expect(String(json?.output)).toMatch(/^\{"long":"x+\n\[The output was cut/);
  });
});

describe('a tool call that is rejected', () => {
  const refusals: [string, object, string, RegExp][] = [
    ['of a tool that does not exist', { tool: 'fly', input: {} }, 'deny', /^There is no tool fly\.$/],
    ['without a required input', { tool: 'count', input: {} }, 'allow', /required properties label/],
    [
      'with an input of the wrong type',
      { tool: 'count', input: { label: 7 } },
      'allow',
      /\/label must be string/,
    ],
    [
      'with an unknown member',
      { tool: 'count', input: { label: '', x: 1 } },
      'allow',
      /\/x is not a known member/,
    ],
    [
      'with an input that is not an object',
      { tool: 'count', input: 'label' },
      'allow',
      /was refused and the tool was not run/,
    ],
  ];
  it.each(refusals)('%s returns an error to the model', async (_, step, evaluated_permission, output) => {
    const count = createRecordingTool();
    await using fixture = await openTestRunner({ tools: [count.tool] });
    fixture.queueTurns(script(step, { text: 'done' }), queuedTurn('trn_1', ''));
    const journal = await fixture.waitForOutcome('trn_1');
    expect(dataOf(journal, 'agent.tool_use')).toMatchObject([{ evaluated_permission }]);
    expect(dataOf(journal, 'agent.tool_result')).toMatchObject([
      { output: expect.stringMatching(output), is_error: true, duration_ms: 0 },
    ]);
    expect(typesOf(journal)).not.toContain('agent.tool_dispatched');
    expect(count.runs).toEqual([]);
    expect(journal.usage).toMatchObject({ toolCalls: 0 });
    expect(lastTextOf(journal)).toBe('done');
  });

  it('of a denied tool returns an error without requesting approval', async () => {
    const count = createRecordingTool({ permission: 'ask' });
    await using fixture = await openTestRunner({ tools: [count.tool] });
    const tools = [{ name: 'count', permission: 'deny' }];
    fixture.queueTurns({ ...calling('a'), tools }, queuedTurn('trn_1', ''));
    const journal = await fixture.waitForOutcome('trn_1');
    expect(dataOf(journal, 'agent.tool_use')).toMatchObject([{ evaluated_permission: 'deny' }]);
    expect(dataOf(journal, 'agent.tool_result')).toMatchObject([
      { output: 'The tool count may not be used.', is_error: true },
    ]);
    expect(outcomeOf(journal)).toEqual(END_TURN);
    expect(count.runs).toEqual([]);
  });
});

describe('a running tool', () => {
  it('reports its progress in batches before its result', async () => {
    const count = createRecordingTool();
    const waiting = pendingAnswer();
    count.answer = (label, call) => {
      call.progress('one ');
      call.progress('two \uD83D');
      return waiting.answer(label, call);
    };
    await using fixture = await openTestRunner({ tools: [count.tool] });
    fixture.queueTurns(calling('a'), queuedTurn('trn_1', ''));
    const progress = () => dataOf(fixture.sessions.journalOf('trn_1'), 'agent.tool_progress');
    // The clock does not advance, so the first report is sent before an interval has passed.
    await until('progress is reported', () => progress().length > 0);
    expect(progress()).toEqual([{ tool_use_id: 'call_1_1', output_delta: 'one two ' }]);
    count.runs[0]?.call.progress('\uDE00 three');
    waiting.release();
    const journal = await fixture.waitForOutcome('trn_1');
    expect(progress().map((one) => one.output_delta)).toEqual(['one two ', '\uD83D\uDE00 three']);
    const types = typesOf(journal);
    expect(types.lastIndexOf('agent.tool_progress')).toBeLessThan(types.indexOf('agent.tool_result'));
    count.runs[0]?.call.progress('too late');
    await fixture.advanceUntil('several more claims', () => fixture.sessions.claims.length > 3, 100);
    expect(progress().length).toBe(2);
  });

  it.each([false, true])(
    'is abandoned at the tool timeout (tool ignores its signal: %s)',
    async (ignoresSignal) => {
      const count = createRecordingTool();
      count.answer = pendingAnswer(ignoresSignal).answer;
      await using fixture = await openTestRunner({ tools: [count.tool] });
      fixture.queueTurns(calling('a'), queuedTurn('trn_1', ''));
      await until('the tool runs', () => count.runs.length === 1);
      await fixture.advanceUntil(
        'the turn has ended',
        () => fixture.sessions.journalOf('trn_1').outcomes.length > 0,
        1_000,
      );
      const journal = fixture.sessions.journalOf('trn_1');
      expect(dataOf(journal, 'agent.tool_result')).toMatchObject([
        {
          output: 'The tool did not finish within 120 seconds. Whether it took effect is unknown.',
          is_error: true,
          duration_ms: 120_000,
        },
      ]);
      expect(count.runs[0]?.call.signal.aborted).toBe(true);
      expect(outcomeOf(journal)).toEqual(END_TURN);
    },
  );
});
