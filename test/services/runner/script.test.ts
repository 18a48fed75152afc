import { describe, expect, it } from 'vitest';
import { message, queuedTurn } from './fake-sessions.ts';
import { dataOf, lastTextOf, openTestRunner, outcomeOf, script, textOf, typesOf } from './runner-fixture.ts';

/** Plays one attempt of a turn without delays. */
async function play(steps: unknown, { text = 'the input', failures = 0 } = {}) {
  await using fixture = await openTestRunner();
  const agent = { model: 'rehearsal/script', modelOptionsJson: JSON.stringify({ steps }) };
  fixture.queueTurns(agent, { ...queuedTurn('trn_1', text), failures });
  return await fixture.waitForOutcome('trn_1');
}

const call = (toolCallId: string, expression: string) => ({
  type: 'tool-call',
  toolCallId,
  toolName: 'calculator',
  input: { expression },
});

describe('rehearsal/script', () => {
  it('returns its texts as parts of one message', async () => {
    const journal = await play([{ text: 'first ' }, { text: 'got <{{input}}>{{last_tool_output}}' }]);
    expect(dataOf(journal, 'agent.message')).toMatchObject([
      {
        content: [
          { type: 'text', text: 'first ' },
          { type: 'text', text: 'got <the input>' },
        ],
      },
    ]);
  });

  it('inserts special characters of replacement patterns literally', async () => {
    expect(textOf(await play([{ text: '{{input}}' }], { text: "$& $1 {{input}} $'" }))).toBe(
      "$& $1 {{input}} $'",
    );
  });

  it('reports thinking before the message', async () => {
    const journal = await play([{ thinking: 'hm, {{input}}' }, { text: 'done' }]);
    expect(typesOf(journal)).toEqual([
      'model.request_started',
      'agent.thinking',
      'agent.message',
      'model.request_finished',
    ]);
    const [thinking] = dataOf(journal, 'agent.thinking');
    const [message] = dataOf(journal, 'agent.message');
    expect(thinking).toEqual({
      message_id: message?.message_id,
      content: [{ type: 'text', text: 'hm, the input' }],
    });
  });

  it('counts words as tokens unless a usage step sets the counts', async () => {
    expect((await play([{ text: 'five wo', chunk_chars: 1 }])).usage).toMatchObject({
      inputTokens: 2,
      outputTokens: 2,
      steps: 1,
    });
    const counted = await play([{ text: 'x' }, { usage: { input_tokens: 1_000, output_tokens: 70 } }]);
    expect(counted.usage).toMatchObject({ inputTokens: 1_000, outputTokens: 70 });
  });

  it('returns an empty message without steps', async () => {
    const journal = await play([]);
    expect(textOf(journal)).toBe('');
    expect(outcomeOf(journal)).toEqual({ $case: 'completed', value: { stopReason: 'end_turn' } });
  });

  it.each([
    ['overloaded', 'retry', 'model_overloaded'],
    ['rate_limited', 'retry', 'model_rate_limited'],
    ['cut_stream', 'retry', 'model_stream_cut'],
    ['bad_request', 'failed', 'model_bad_request'],
  ])('a %s error ends the turn with %s and the code %s', async (kind, outcome, code) => {
    for (const steps of [[{ error: { kind } }], [{ text: 'half a ' }, { error: { kind } }]]) {
      const journal = await play(steps);
      expect(outcomeOf(journal)).toMatchObject({ $case: outcome, value: { error: { code } } });
      expect(typesOf(journal)).toEqual(['model.request_started', 'model.request_finished']);
      expect(dataOf(journal, 'model.request_finished')).toMatchObject([{ is_error: true }]);
      expect(journal.usage.steps).toBe(0);
    }
  });

  it('passes on the delay of retry_after_seconds', async () => {
    const journal = await play([{ error: { kind: 'rate_limited' }, retry_after_seconds: 7 }]);
    expect(outcomeOf(journal)).toMatchObject({ value: { delayMs: 7_000 } });
    expect(outcomeOf(await play([{ error: { kind: 'overloaded' } }]))).toMatchObject({
      value: { delayMs: 0 },
    });
  });

  it('calls adjacent tool steps together and continues behind them', async () => {
    const journal = await play([
      { text: 'let me see ' },
      { tool: 'calculator', input: { expression: '1 + 1' } },
      { tool: 'calculator', input: { expression: '2 + 2' } },
      { thinking: 'it was {{last_tool_output}}' },
      { tool: 'calculator', input: { expression: '{{last_tool_output}} * 2' } },
      { text: '{{input}}: {{last_tool_output}}' },
    ]);
    expect(dataOf(journal, 'agent.message').map(({ content }) => content)).toEqual([
      [{ type: 'text', text: 'let me see ' }, call('call_1_1', '1 + 1'), call('call_1_2', '2 + 2')],
      [{ type: 'reasoning', text: 'it was 4' }, call('call_1_3', '4 * 2')],
      [{ type: 'text', text: 'the input: 8' }],
    ]);
    const reasons = dataOf(journal, 'agent.message').map(({ finish_reason }) => finish_reason);
    expect(reasons).toEqual(['tool-calls', 'tool-calls', 'stop']);
  });

  it('ends with an empty message when the last step is a tool step', async () => {
    const journal = await play([{ tool: 'calculator', input: { expression: '1' } }]);
    expect(lastTextOf(journal)).toBe('');
    expect(outcomeOf(journal)).toEqual({ $case: 'completed', value: { stopReason: 'end_turn' } });
  });

  it('replaces placeholders in all texts of a tool input', async () => {
    const input = { 'n{{input}}': ['{{input}}', { deep: '<{{last_tool_output}}>' }, 5, null, true] };
    const journal = await play([{ tool: 'calculator', input }], { text: 'x"y' });
    expect(dataOf(journal, 'agent.tool_use')).toMatchObject([
      { input: { 'n{{input}}': ['x"y', { deep: '<>' }, 5, null, true] } },
    ]);
  });

  it('gives every call of a session a unique id', async () => {
    await using fixture = await openTestRunner();
    const userMessage = (turnId: string, seq: number) => message(turnId, seq, 'user.message', 'x');
    const steps = [{ tool: 'calculator', input: { expression: '1' } }, { text: 'x' }];
    fixture.queueTurns(script(...steps), {
      turnId: 'trn_2',
      messages: [userMessage('trn_1', 1), userMessage('trn_2', 2)],
    });
    const journal = await fixture.waitForOutcome('trn_2');
    expect(dataOf(journal, 'agent.tool_use')).toMatchObject([{ tool_use_id: 'call_2_1' }]);
  });

  it('counts failures separately for each response', async () => {
    const tool = { tool: 'calculator', input: { expression: '1' } };
    const error = { error: { kind: 'overloaded' } };
    await using fixture = await openTestRunner();
    fixture.queueTurns(script(error, tool, error, tool, { text: 'done' }), queuedTurn('trn_1', ''));
    const codes = [];
    for (const outcomes of [1, 2]) {
      codes.push(outcomeOf(await fixture.waitForOutcome('trn_1', outcomes))?.$case);
      fixture.requeue('trn_1');
    }
    const journal = await fixture.waitForOutcome('trn_1', 3);
    expect(codes).toEqual(['retry', 'retry']);
    expect(lastTextOf(journal)).toBe('done');
    expect(journal.usage).toMatchObject({ steps: 3, toolCalls: 2 });
  });

  it('fails as often as times says since the turn last made progress', async () => {
    const steps = [
      { error: { kind: 'overloaded' }, times: 2 },
      { text: 'a' },
      { error: { kind: 'rate_limited' } },
      { text: 'b' },
    ];
    const codes = [];
    for (const failures of [0, 1, 2]) {
      const kind = outcomeOf(await play(steps, { failures }));
      codes.push(kind?.$case === 'retry' && kind.value.error?.code);
    }
    expect(codes).toEqual(['model_overloaded', 'model_overloaded', 'model_rate_limited']);
    expect(textOf(await play(steps, { failures: 3 }))).toBe('ab');
  });

  it.each([
    [{}, 'model_options.steps is not a list'],
    [[{ tool: 5 }], 'steps[0].tool is not a text'],
    [[{ tool: 'calculator', output: 4 }], 'steps[0] has an unknown member output'],
    [[{ text: 'x' }, 5], 'steps[1] is not an object'],
    [[{ say: 'x' }], 'steps[0] is none of text, file, tool, thinking, answer_again, error, usage'],
    [[{ text: 'x', delay: 4 }], 'steps[0] has an unknown member delay'],
    [[{ text: 'x', chunk_chars: 0 }], 'steps[0].chunk_chars is not a whole number from 1 to 2147483647'],
    [[{ text: 7 }], 'steps[0].text is not a text'],
    [
      [{ error: { kind: 'fire' } }],
      'steps[0].error.kind is none of overloaded, rate_limited, bad_request, cut_stream',
    ],
    [
      [{ usage: { input_tokens: 1 } }],
      'steps[0].usage.output_tokens is not a whole number from 0 to 2147483647',
    ],
  ])('rejects the steps %j', async (steps, message) => {
    expect(outcomeOf(await play(steps))).toEqual({
      $case: 'failed',
      value: { error: { code: 'model_bad_request', message } },
    });
  });

  it('is retried with model_timeout when a step takes too long', async () => {
    await using fixture = await openTestRunner({ stepTimeoutSeconds: 2 });
    fixture.queueTurns(script({ text: 'never said', delay_ms: 60_000 }), queuedTurn('trn_1', ''));
    await fixture.advanceUntil(
      'the turn has ended',
      () => fixture.sessions.journalOf('trn_1').outcomes.length > 0,
      100,
    );
    expect(outcomeOf(fixture.sessions.journalOf('trn_1'))).toMatchObject({
      $case: 'retry',
      value: { error: { code: 'model_timeout' } },
    });
  });
});
