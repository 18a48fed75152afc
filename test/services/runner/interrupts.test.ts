import { describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { until } from '../../support/wait.ts';
import { calling, createCountingTool, held } from './counting.ts';
import { dataOf, open, outcomeOf, type RunnerUnderTest, script, typesOf } from './open.ts';
import { asked } from './sessions.ts';

const reportsOf = (world: RunnerUnderTest, turnId: string) =>
  world.book.reports.filter(({ reports }) => reports.some((report) => report.turnId === turnId)).length;

/** Much later, nothing has been said of the turn since. */
async function expectSilence(world: RunnerUnderTest, turnId: string): Promise<void> {
  const before = reportsOf(world, turnId);
  const { outcomes, appended } = world.book.of(turnId);
  const claims = world.book.claims.length;
  await world.passTime('much time', () => world.book.claims.length > claims + 5, 100);
  expect(reportsOf(world, turnId)).toBe(before);
  expect(world.book.of(turnId)).toMatchObject({ outcomes, appended });
}

describe.each(TRANSPORTS)('a turn that was interrupted, %s', (transport) => {
  it('ends its model request in the moment in which it is told, and says nothing more', async () => {
    await using world = await open({ transport, slots: 1 });
    world.ask(script({ text: 'a long story '.repeat(60), chunk_chars: 5, delay_ms: 20 }), asked('trn_1', ''));
    await world.passTime('it speaks', () => dataOf(world.book.of('trn_1'), 'agent.message_delta').length > 0);
    world.book.takeAway('trn_1');
    world.context.bus.publish('turns.interrupted', 'trn_1');
    await expectSilence(world, 'trn_1');
    // Its slot is free.
    world.ask({}, asked('trn_2', 'next'));
    await world.ended('trn_2');
  });

  it.each([false, true])('aborts its tools, deaf ones too: %s', async (isDeaf) => {
    const count = createCountingTool();
    const waiting = held(isDeaf);
    count.answer = waiting.answer;
    await using world = await open({ transport, slots: 1, tools: [count.tool] });
    world.ask(calling('a', 'b'), asked('trn_1', ''));
    await until('they run', () => count.runs.length === 2);
    world.book.takeAway('trn_1');
    world.context.bus.publish('turns.interrupted', 'trn_1');
    await until('both are aborted', () => count.runs.every(({ call }) => call.signal.aborted));
    waiting.release();
    await expectSilence(world, 'trn_1');
    expect(typesOf(world.book.of('trn_1'))).not.toContain('agent.tool_result');
    world.ask({}, asked('trn_2', 'next'));
    await world.ended('trn_2');
  });

  it('hears of it within a second when no hint comes', async () => {
    const count = createCountingTool();
    count.answer = held().answer;
    await using world = await open({ transport, tools: [count.tool] });
    world.ask(calling('a'), asked('trn_1', ''));
    await until('it runs', () => count.runs.length === 1);
    world.book.takeAway('trn_1');
    const interruptedAt = world.clock.now().getTime();
    await world.passTime('it is aborted', () => count.runs[0]?.call.signal.aborted === true, 10);
    expect(world.clock.now().getTime() - interruptedAt).toBeLessThanOrEqual(1_500);
    await expectSilence(world, 'trn_1');
  });

  it('leaves all others alone', async () => {
    const count = createCountingTool();
    const waiting = held();
    count.answer = waiting.answer;
    await using world = await open({ transport, tools: [count.tool] });
    world.ask(calling('a'), asked('trn_1', ''));
    await until('it runs', () => count.runs.length === 1);
    world.context.bus.publish('turns.interrupted', 'trn_2');
    world.context.bus.publish('turns.interrupted', '');
    waiting.release();
    expect(outcomeOf(await world.ended('trn_1'))?.$case).toBe('completed');
  });
});

describe.each(TRANSPORTS)('a call that is about to be sent to its tool, %s', (transport) => {
  it('waits for the answer to its dispatch, which is repeated until it comes, and runs once', async () => {
    const count = createCountingTool();
    await using world = await open({ transport, tools: [count.tool] });
    let lost = 0;
    world.book.after.report = () => {
      if (lost++ < 3) throw refuse('DEPENDENCY_UNAVAILABLE', 'the answer got lost');
      expect(count.runs.length).toBe(lost === 4 ? 0 : 1);
    };
    world.ask(calling('a'), asked('trn_1', ''));
    await world.passTime('the turn has ended', () => world.book.of('trn_1').outcomes.length > 0, 5);
    expect(world.book.of('trn_1').repeated).toBe(3);
    expect(count.runs.length).toBe(1);
  });

  it('is not sent when the lease is lost before its dispatch is in the journal', async () => {
    const count = createCountingTool();
    await using world = await open({ transport, tools: [count.tool] });
    world.book.before.report = () => world.book.takeAway('trn_1');
    world.ask(calling('a'), asked('trn_1', ''));
    await until('it was refused', () => reportsOf(world, 'trn_1') === 1);
    await expectSilence(world, 'trn_1');
    expect(count.runs).toEqual([]);
    expect(world.book.of('trn_1').appended).toBe(0);
  });

  it('is not sent when it was interrupted while the answer was on its way', async () => {
    const count = createCountingTool();
    await using world = await open({ transport, tools: [count.tool] });
    const answer = Promise.withResolvers<void>();
    world.book.after.report = () => answer.promise;
    world.ask(calling('a'), asked('trn_1', ''));
    await until('it is appended', () => world.book.of('trn_1').appended === 1);
    world.book.takeAway('trn_1');
    world.context.bus.publish('turns.interrupted', 'trn_1');
    answer.resolve();
    await expectSilence(world, 'trn_1');
    expect(count.runs).toEqual([]);
  });

  it('is not sent when the runner was asleep until its lease was over', async () => {
    const count = createCountingTool();
    await using world = await open({ transport, leaseMs: 3_000, tools: [count.tool] });
    const answer = Promise.withResolvers<void>();
    world.book.after.report = () => answer.promise;
    // No renewal gets through: the process stands still, and only the time goes on.
    world.book.before.renew = () => new Promise(() => {});
    world.ask(calling('a'), asked('trn_1', ''));
    await until('it is appended', () => world.book.of('trn_1').appended === 1);
    const now = world.clock.now;
    world.clock.now = () => new Date(now().getTime() + 3_000);
    world.book.after.report = undefined;
    answer.resolve();
    await expectSilence(world, 'trn_1');
    expect(count.runs).toEqual([]);
  });

  it('reports nothing when the runner was asleep until its lease was over', async () => {
    const count = createCountingTool();
    const waiting = held();
    count.answer = waiting.answer;
    await using world = await open({ transport, leaseMs: 3_000, tools: [count.tool] });
    world.book.before.renew = () => new Promise(() => {});
    world.ask(calling('a'), asked('trn_1', ''));
    await until('it runs', () => count.runs.length === 1);
    const before = reportsOf(world, 'trn_1');
    const now = world.clock.now;
    world.clock.now = () => new Date(now().getTime() + 3_000);
    waiting.release();
    await expectSilence(world, 'trn_1');
    expect(reportsOf(world, 'trn_1')).toBe(before);
  });
});
