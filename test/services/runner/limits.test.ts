import { describe, expect, it } from 'vitest';
import { createCountingTool, held } from './counting.ts';
import { dataOf, open, outcomeOf, script, typesOf } from './open.ts';
import { asked } from './sessions.ts';

describe('the limits of a turn with tools', () => {
  const twice = (label: string) => [{ tool: 'count', input: { label } }, { text: 'and ' }];

  it('stop it behind its last step, whose tools still run', async () => {
    const count = createCountingTool();
    await using world = await open({ tools: [count.tool] });
    const steps = [...twice('a'), ...twice('b'), ...twice('c')];
    world.ask({ ...script(...steps), maxSteps: 2 }, asked('trn_1', ''));
    const journal = await world.ended('trn_1');
    expect(count.runs.map(({ label }) => label)).toEqual(['a', 'b']);
    expect(journal.openCalls).toEqual([]);
    expect(outcomeOf(journal)).toEqual({ $case: 'completed', value: { stopReason: 'max_steps_reached' } });
    expect(journal.usage.steps).toBe(2);
  });

  it('count the steps of earlier attempts, and not those that failed', async () => {
    const count = createCountingTool();
    await using world = await open({ tools: [count.tool] });
    const steps = [...twice('a'), { error: { kind: 'overloaded' }, times: 2 }, ...twice('b'), ...twice('c')];
    world.ask({ ...script(...steps), maxSteps: 2 }, asked('trn_1', ''));
    for (const attempt of [1, 2]) {
      expect(outcomeOf(await world.ended('trn_1', attempt))).toMatchObject({ $case: 'retry' });
      world.again('trn_1');
    }
    const journal = await world.ended('trn_1', 3);
    expect(outcomeOf(journal)).toEqual({ $case: 'completed', value: { stopReason: 'max_steps_reached' } });
    expect(count.runs.map(({ label }) => label)).toEqual(['a', 'b']);
    expect(journal.usage.steps).toBe(2);
  });

  it('leave each step the tokens that are left, and end the turn when none are', async () => {
    const count = createCountingTool();
    await using world = await open({ tools: [count.tool] });
    const steps = [{ text: 'one two ' }, ...twice('a'), { text: 'three four' }, ...twice('b')];
    world.ask({ ...script(...steps), budget: { maxTokens: 3 } }, asked('trn_1', ''));
    const journal = await world.ended('trn_1');
    expect(dataOf(journal, 'agent.message').map((one) => one.content)).toMatchObject([
      [{ text: 'one two ' }, { type: 'tool-call' }],
      [{ text: 'and ' }],
    ]);
    expect(outcomeOf(journal)).toEqual({ $case: 'completed', value: { stopReason: 'budget_reached' } });
    expect(count.runs.length).toBe(1);
  });

  it('end it before its next step when a step has used up the tokens', async () => {
    const count = createCountingTool();
    await using world = await open({ tools: [count.tool] });
    const steps = [{ text: 'one two ' }, ...twice('a'), ...twice('b')];
    world.ask({ ...script(...steps), budget: { maxTokens: 2 } }, asked('trn_1', ''));
    const journal = await world.ended('trn_1');
    expect(typesOf(journal).filter((type) => type === 'model.request_started').length).toBe(1);
    expect(dataOf(journal, 'agent.tool_result')).toMatchObject([{ output: 'done a' }]);
    expect(outcomeOf(journal)).toEqual({ $case: 'completed', value: { stopReason: 'budget_reached' } });
  });

  it.each([false, true])('end its tools with its time, deaf ones too: %s', async (isDeaf) => {
    const count = createCountingTool();
    count.answer = held(isDeaf).answer;
    await using world = await open({ tools: [count.tool] });
    const slow = [{ text: 'slow', delay_ms: 600 }, ...twice('a')];
    const budget = { maxTokens: undefined, maxTurnSeconds: 1 };
    world.ask({ ...script(...slow), budget }, asked('trn_1', ''));
    await world.passTime('the tool runs', () => count.runs.length === 1, 50);
    await world.passTime('the turn has ended', () => world.book.of('trn_1').outcomes.length > 0, 50);
    const journal = world.book.of('trn_1');
    expect(count.runs[0]?.call.signal.aborted).toBe(true);
    expect(dataOf(journal, 'agent.tool_result')).toMatchObject([
      {
        output: 'The time of the turn was up while this tool was running. Whether it took effect is unknown.',
        is_error: true,
      },
    ]);
    expect(outcomeOf(journal)).toEqual({ $case: 'completed', value: { stopReason: 'budget_reached' } });
    expect(journal.usage.activeMs).toBeLessThan(1_200);
  });
});
