import { describe, expect, it } from 'vitest';
import { queuedTurn } from './fake-sessions.ts';
import { createRecordingTool } from './recording-tool.ts';
import { openTestRunner, type RunnerUnderTest, script } from './runner-fixture.ts';

async function linesOf({ context }: RunnerUnderTest, family: RegExp): Promise<string[]> {
  return (await context.metrics.text()).split('\n').filter((line) => family.test(line));
}

const MODEL = 'gen_ai_operation_name="chat",gen_ai_provider_name="rehearsal",gen_ai_request_model="script"';

describe('metrics of a runner', () => {
  it('count tool calls by tool and outcome, and unknown tools as other', async () => {
    const count = createRecordingTool();
    count.answer = (label) => {
      if (label === 'wrong') throw new Error('a secret');
      return 'done';
    };
    await using fixture = await openTestRunner({ tools: [count.tool] });
    const steps = ['right', 'wrong'].map((label) => ({ tool: 'count', input: { label } }));
    fixture.queueTurns(
      script(...steps, { tool: 'fly' }, { tool: 'count', input: 'no object' }),
      queuedTurn('trn_1', ''),
    );
    await fixture.waitForOutcome('trn_1');
    expect((await linesOf(fixture, /^ahs_tool_calls_total/)).sort()).toEqual([
      'ahs_tool_calls_total{name="count",outcome="failed"} 1',
      'ahs_tool_calls_total{name="count",outcome="not_run"} 1',
      'ahs_tool_calls_total{name="count",outcome="succeeded"} 1',
      'ahs_tool_calls_total{name="other",outcome="not_run"} 1',
    ]);
  });

  it('have durations, time to first text, tokens and errors of model requests by provider and model', async () => {
    await using fixture = await openTestRunner();
    const steps = script({ error: { kind: 'overloaded' }, times: 1 }, { text: 'one two three' });
    fixture.queueTurns(steps, queuedTurn('trn_1', 'hello'));
    await fixture.waitForOutcome('trn_1');
    fixture.requeue('trn_1');
    await fixture.waitForOutcome('trn_1', 2);
    expect(await linesOf(fixture, /^(gen_ai|ahs_model)\w+(_count|_total|output"\})/)).toEqual([
      `ahs_model_errors_total{${MODEL},error_type="model_overloaded"} 1`,
      `gen_ai_client_operation_duration_count{${MODEL}} 2`,
      `gen_ai_client_operation_time_to_first_chunk_count{${MODEL}} 1`,
      ...['input', 'output', 'cache_read', 'reasoning'].map(
        (type) => `gen_ai_client_token_usage_count{${MODEL},gen_ai_token_type="${type}"} 1`,
      ),
    ]);
    const [output] = await linesOf(fixture, /^gen_ai_client_token_usage_sum.*"output"/);
    expect(output).toMatch(/ 3$/);
  });
});
