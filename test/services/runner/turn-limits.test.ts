import { describe, expect, it } from 'vitest';
import { queuedTurn } from './fake-sessions.ts';
import { createRecordingTool, pendingAnswer } from './recording-tool.ts';
import { dataOf, openTestRunner, outcomeOf, script, typesOf } from './runner-fixture.ts';

describe('the limits of a turn with tools', () => {
  const twice = (label: string) => [{ tool: 'count', input: { label } }, { text: 'and ' }];

  it('end it after the last step, whose tools still run', async () => {
    const count = createRecordingTool();
    await using fixture = await openTestRunner({ tools: [count.tool] });
    const steps = [...twice('a'), ...twice('b'), ...twice('c')];
    fixture.queueTurns({ ...script(...steps), maxSteps: 2 }, queuedTurn('trn_1', ''));
    const journal = await fixture.waitForOutcome('trn_1');
    expect(count.runs.map(({ label }) => label)).toEqual(['a', 'b']);
    expect(journal.openCalls).toEqual([]);
    expect(outcomeOf(journal)).toEqual({ $case: 'completed', value: { stopReason: 'max_steps_reached' } });
    expect(journal.usage.steps).toBe(2);
  });

  it('count successful steps of earlier attempts and no failed steps', async () => {
    const count = createRecordingTool();
    await using fixture = await openTestRunner({ tools: [count.tool] });
    const steps = [...twice('a'), { error: { kind: 'overloaded' }, times: 2 }, ...twice('b'), ...twice('c')];
    fixture.queueTurns({ ...script(...steps), maxSteps: 2 }, queuedTurn('trn_1', ''));
    for (const attempt of [1, 2]) {
      expect(outcomeOf(await fixture.waitForOutcome('trn_1', attempt))).toMatchObject({ $case: 'retry' });
      fixture.requeue('trn_1');
    }
    const journal = await fixture.waitForOutcome('trn_1', 3);
    expect(outcomeOf(journal)).toEqual({ $case: 'completed', value: { stopReason: 'max_steps_reached' } });
    expect(count.runs.map(({ label }) => label)).toEqual(['a', 'b']);
    expect(journal.usage.steps).toBe(2);
  });

  it('give each step the remaining tokens and end the turn when none remain', async () => {
    const count = createRecordingTool();
    await using fixture = await openTestRunner({ tools: [count.tool] });
    const steps = [{ text: 'one two ' }, ...twice('a'), { text: 'three four' }, ...twice('b')];
    fixture.queueTurns({ ...script(...steps), budget: { maxTokens: 3 } }, queuedTurn('trn_1', ''));
    const journal = await fixture.waitForOutcome('trn_1');
    expect(dataOf(journal, 'agent.message').map((one) => one.content)).toMatchObject([
      [{ text: 'one two ' }, { type: 'tool-call' }],
      [{ text: 'and ' }],
    ]);
    expect(outcomeOf(journal)).toEqual({ $case: 'completed', value: { stopReason: 'budget_reached' } });
    expect(count.runs.length).toBe(1);
  });

  it('end it before the next step when the tokens are used up', async () => {
    const count = createRecordingTool();
    await using fixture = await openTestRunner({ tools: [count.tool] });
    const steps = [{ text: 'one two ' }, ...twice('a'), ...twice('b')];
    fixture.queueTurns({ ...script(...steps), budget: { maxTokens: 2 } }, queuedTurn('trn_1', ''));
    const journal = await fixture.waitForOutcome('trn_1');
    expect(typesOf(journal).filter((type) => type === 'model.request_started').length).toBe(1);
    expect(dataOf(journal, 'agent.tool_result')).toMatchObject([{ output: 'done a' }]);
    expect(outcomeOf(journal)).toEqual({ $case: 'completed', value: { stopReason: 'budget_reached' } });
  });

  it.each([false, true])(
    'stop its tools at the time limit (tool ignores its signal: %s)',
    async (ignoresSignal) => {
      const count = createRecordingTool();
      count.answer = pendingAnswer(ignoresSignal).answer;
      await using fixture = await openTestRunner({ tools: [count.tool] });
      const slow = [{ text: 'slow', delay_ms: 600 }, ...twice('a')];
      const budget = { maxTokens: undefined, maxTurnSeconds: 1 };
      fixture.queueTurns({ ...script(...slow), budget }, queuedTurn('trn_1', ''));
      await fixture.advanceUntil('the tool runs', () => count.runs.length === 1, 50);
      await fixture.advanceUntil(
        'the turn has ended',
        () => fixture.sessions.journalOf('trn_1').outcomes.length > 0,
        50,
      );
      const journal = fixture.sessions.journalOf('trn_1');
      expect(count.runs[0]?.call.signal.aborted).toBe(true);
      expect(dataOf(journal, 'agent.tool_result')).toMatchObject([
        {
          output:
            'The time limit of the turn was reached while this tool was running. Whether it took effect is unknown.',
          is_error: true,
        },
      ]);
      expect(outcomeOf(journal)).toEqual({ $case: 'completed', value: { stopReason: 'budget_reached' } });
      expect(journal.usage.activeMs).toBeLessThan(1_200);
    },
  );
});
