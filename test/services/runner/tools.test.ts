import { describe, expect, it } from 'vitest';
import { TRANSPORTS } from '../../support/context.ts';
import { until } from '../../support/wait.ts';
import { calling, createCountingTool, held } from './counting.ts';
import { dataOf, lastTextOf, open, outcomeOf, script, typesOf } from './open.ts';
import { asked, message } from './sessions.ts';

const END_TURN = { $case: 'completed', value: { stopReason: 'end_turn' } };

describe.each(TRANSPORTS)('a tool call, %s', (transport) => {
  it('is journalled, dispatched and answered, and the model goes on', async () => {
    const count = createCountingTool();
    await using world = await open({ transport, tools: [count.tool] });
    world.ask(calling('a'), asked('trn_1', ''));
    const journal = await world.ended('trn_1');
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

  it('is not run before the journal holds that it will be', async () => {
    const count = createCountingTool();
    await using world = await open({ transport, tools: [count.tool] });
    const answer = Promise.withResolvers<void>();
    world.book.after.report = () => answer.promise;
    world.ask(calling('a'), asked('trn_1', ''));
    await until('its dispatch is appended', () =>
      typesOf(world.book.of('trn_1')).includes('agent.tool_dispatched'),
    );
    await world.passTime('some time', () => world.book.claims.length > 1, 100);
    expect(count.runs).toEqual([]);
    world.book.after.report = undefined;
    answer.resolve();
    await world.ended('trn_1');
    expect(count.runs.length).toBe(1);
  });

  it('runs together with the others of its step, and the model is told of all at once', async () => {
    const count = createCountingTool();
    const waiting = held();
    count.answer = waiting.answer;
    await using world = await open({ transport, tools: [count.tool] });
    world.ask(calling('a', 'b', 'c'), asked('trn_1', ''));
    await until('all run', () => count.runs.length === 3);
    waiting.release();
    const journal = await world.ended('trn_1');
    expect(count.runs.map(({ label }) => label)).toEqual(['a', 'b', 'c']);
    const ids = ['call_1_1', 'call_1_2', 'call_1_3'];
    expect(dataOf(journal, 'agent.tool_use').map((one) => one.tool_use_id)).toEqual(ids);
    expect(dataOf(journal, 'agent.tool_result').map((one) => one.tool_use_id)).toEqual(ids);
    expect(dataOf(journal, 'agent.message').length).toBe(2);
    expect(journal.usage).toMatchObject({ steps: 2, toolCalls: 3 });
  });
});

describe('the id of a call', () => {
  it('is another one when the turn has had a call of that id', async () => {
    const count = createCountingTool();
    await using world = await open({ tools: [count.tool] });
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
    world.ask(script(...steps), { turnId: 'trn_1', messages, attempt: 2 });
    const journal = await world.ended('trn_1');
    expect(dataOf(journal, 'agent.message')[0]?.content).toMatchObject([
      { text: 'done a' },
      { type: 'tool-call', toolCallId: 'call_1_2_2' },
    ]);
    expect(dataOf(journal, 'agent.tool_result').map((one) => one.tool_use_id)).toEqual(['call_1_2_2']);
    expect(count.runs.length).toBe(1);
    expect(outcomeOf(journal)).toEqual(END_TURN);
  });
});

describe('earlier turns', () => {
  it('are told with what came of their calls, and with calls that nobody has answered', async () => {
    await using world = await open();
    const call = (toolCallId: string) => ({ type: 'tool-call', toolCallId, toolName: 'count', input: {} });
    const messages = [
      message('trn_1', 1, 'user.message', 'one'),
      message('trn_1', 2, 'agent.message', [{ type: 'text', text: 'wait' }, call('x'), call('y')]),
      message('trn_2', 3, 'user.message', 'two'),
    ];
    world.ask(script({ text: '{{last_tool_output}}' }), { turnId: 'trn_2', messages });
    expect(lastTextOf(await world.ended('trn_2'))).toBe('The turn ended before this tool was run.');
  });
});

describe('the result of a call', () => {
  const result = async (runtime: Parameters<typeof calling>, answer?: () => unknown) => {
    const count = createCountingTool();
    if (answer) count.answer = answer;
    await using world = await open({ tools: [count.tool] });
    world.ask(calling(...runtime), asked('trn_1', ''));
    const journal = await world.ended('trn_1');
    expect(outcomeOf(journal)).toEqual(END_TURN);
    return dataOf(journal, 'agent.tool_result')[0];
  };
  const fail = () => {
    throw new Error('the printer is on fire');
  };

  it('is text or JSON, as the tool gave it', async () => {
    expect(await result(['a'], () => 'a text\0\uD83D')).toMatchObject({ output: 'a text\0\uD83D' });
    expect(await result(['a'], () => ({ n: [1, null] }))).toMatchObject({ output: { n: [1, null] } });
    expect(await result(['a'], () => undefined)).toMatchObject({ output: null, is_error: false });
  });

  it('is an error with the words of what the tool throws', async () => {
    const words = { output: 'the printer is on fire', is_error: true };
    expect(await result(['a'], fail)).toMatchObject(words);
    expect(await result(['a'], async () => fail())).toMatchObject(words);
    expect(await result(['a'], () => 1n)).toMatchObject({ is_error: true });
  });

  it('is cut where it becomes too long, and says so', async () => {
    const long = await result(['a'], () => 'é'.repeat(200_000));
    expect(String(long?.output)).toMatch(/^é+\n\[The output was cut: it has 400000 bytes/);
    expect(Buffer.byteLength(String(long?.output))).toBeLessThan(257 * 1024);
    const json = await result(['a'], () => ({ long: 'x'.repeat(300_000) }));
    expect(String(json?.output)).toMatch(/^\{"long":"x+\n\[The output was cut/);
  });
});

describe('a call that is not run', () => {
  const refusals: [string, object, string, RegExp][] = [
    ['of a tool that does not exist', { tool: 'fly', input: {} }, 'deny', /^There is no tool fly\.$/],
    ['without what the tool needs', { tool: 'count', input: {} }, 'allow', /required properties label/],
    ['with the wrong input', { tool: 'count', input: { label: 7 } }, 'allow', /\/label must be string/],
    ['with too much', { tool: 'count', input: { label: '', x: 1 } }, 'allow', /\/x is not a known member/],
    ['with no JSON', { tool: 'count', input: 'label' }, 'allow', /was refused and the tool was not run/],
  ];
  it.each(refusals)('%s is told so', async (_, step, evaluated_permission, output) => {
    const count = createCountingTool();
    await using world = await open({ tools: [count.tool] });
    world.ask(script(step, { text: 'told' }), asked('trn_1', ''));
    const journal = await world.ended('trn_1');
    expect(dataOf(journal, 'agent.tool_use')).toMatchObject([{ evaluated_permission }]);
    expect(dataOf(journal, 'agent.tool_result')).toMatchObject([
      { output: expect.stringMatching(output), is_error: true, duration_ms: 0 },
    ]);
    expect(typesOf(journal)).not.toContain('agent.tool_dispatched');
    expect(count.runs).toEqual([]);
    expect(journal.usage).toMatchObject({ toolCalls: 0 });
    expect(lastTextOf(journal)).toBe('told');
  });

  it('of a denied tool is told so, and nobody is asked', async () => {
    const count = createCountingTool({ permission: 'ask' });
    await using world = await open({ tools: [count.tool] });
    const tools = [{ name: 'count', permission: 'deny' }];
    world.ask({ ...calling('a'), tools }, asked('trn_1', ''));
    const journal = await world.ended('trn_1');
    expect(dataOf(journal, 'agent.tool_use')).toMatchObject([{ evaluated_permission: 'deny' }]);
    expect(dataOf(journal, 'agent.tool_result')).toMatchObject([
      { output: 'The tool count may not be used.', is_error: true },
    ]);
    expect(outcomeOf(journal)).toEqual(END_TURN);
    expect(count.runs).toEqual([]);
  });
});

describe('a running tool', () => {
  it('shows what it does in batches, all of it before its result', async () => {
    const count = createCountingTool();
    const waiting = held();
    count.answer = (label, call) => {
      call.progress('one ');
      call.progress('two \uD83D');
      return waiting.answer(label, call);
    };
    await using world = await open({ tools: [count.tool] });
    world.ask(calling('a'), asked('trn_1', ''));
    const shown = () => dataOf(world.book.of('trn_1'), 'agent.tool_progress');
    // Nobody waits for an interval to be over.
    await until('it shows something', () => shown().length > 0);
    expect(shown()).toEqual([{ tool_use_id: 'call_1_1', output_delta: 'one two ' }]);
    count.runs[0]?.call.progress('\uDE00 three');
    waiting.release();
    const journal = await world.ended('trn_1');
    expect(shown().map((one) => one.output_delta)).toEqual(['one two ', '\uD83D\uDE00 three']);
    const types = typesOf(journal);
    expect(types.lastIndexOf('agent.tool_progress')).toBeLessThan(types.indexOf('agent.tool_result'));
    count.runs[0]?.call.progress('too late');
    await world.passTime('much time', () => world.book.claims.length > 3, 100);
    expect(shown().length).toBe(2);
  });

  it.each([false, true])('that takes too long is left behind, deaf to its signal: %s', async (isDeaf) => {
    const count = createCountingTool();
    count.answer = held(isDeaf).answer;
    await using world = await open({ tools: [count.tool] });
    world.ask(calling('a'), asked('trn_1', ''));
    await until('it runs', () => count.runs.length === 1);
    await world.passTime('the turn has ended', () => world.book.of('trn_1').outcomes.length > 0, 1_000);
    const journal = world.book.of('trn_1');
    expect(dataOf(journal, 'agent.tool_result')).toMatchObject([
      {
        output: 'The tool did not finish within 120 seconds. Whether it took effect is unknown.',
        is_error: true,
        duration_ms: 120_000,
      },
    ]);
    expect(count.runs[0]?.call.signal.aborted).toBe(true);
    expect(outcomeOf(journal)).toEqual(END_TURN);
  });
});
