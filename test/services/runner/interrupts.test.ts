import { describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { until } from '../../support/wait.ts';
import { queuedTurn } from './fake-sessions.ts';
import { calling, createRecordingTool, pendingAnswer } from './recording-tool.ts';
import {
  dataOf,
  openTestRunner,
  outcomeOf,
  type RunnerUnderTest,
  script,
  typesOf,
} from './runner-fixture.ts';

const reportsOf = (fixture: RunnerUnderTest, turnId: string) =>
  fixture.sessions.reports.filter(({ reports }) => reports.some((report) => report.turnId === turnId)).length;

/** Advances the clock by several claims and expects no report of the turn. */
async function expectNoReports(fixture: RunnerUnderTest, turnId: string): Promise<void> {
  const before = reportsOf(fixture, turnId);
  const { outcomes, appended } = fixture.sessions.journalOf(turnId);
  const claims = fixture.sessions.claims.length;
  await fixture.advanceUntil('several more claims', () => fixture.sessions.claims.length > claims + 5, 100);
  expect(reportsOf(fixture, turnId)).toBe(before);
  expect(fixture.sessions.journalOf(turnId)).toMatchObject({ outcomes, appended });
}

describe.each(TRANSPORTS)('an interrupted turn, %s', (transport) => {
  it('ends its model request immediately and reports nothing more', async () => {
    await using fixture = await openTestRunner({ transport, slots: 1 });
    fixture.queueTurns(
      script({ text: 'a long story '.repeat(60), chunk_chars: 5, delay_ms: 20 }),
      queuedTurn('trn_1', ''),
    );
    await fixture.advanceUntil(
      'the turn streams',
      () => dataOf(fixture.sessions.journalOf('trn_1'), 'agent.message_delta').length > 0,
    );
    fixture.sessions.revokeLease('trn_1');
    fixture.context.bus.publish('turns.interrupted', 'trn_1');
    await expectNoReports(fixture, 'trn_1');
    // Its slot is free.
    fixture.queueTurns({}, queuedTurn('trn_2', 'next'));
    await fixture.waitForOutcome('trn_2');
  });

  it.each([false, true])('aborts its tools (tool ignores its signal: %s)', async (ignoresSignal) => {
    const count = createRecordingTool();
    const waiting = pendingAnswer(ignoresSignal);
    count.answer = waiting.answer;
    await using fixture = await openTestRunner({ transport, slots: 1, tools: [count.tool] });
    fixture.queueTurns(calling('a', 'b'), queuedTurn('trn_1', ''));
    await until('both tools run', () => count.runs.length === 2);
    fixture.sessions.revokeLease('trn_1');
    fixture.context.bus.publish('turns.interrupted', 'trn_1');
    await until('both tools are aborted', () => count.runs.every(({ call }) => call.signal.aborted));
    waiting.release();
    await expectNoReports(fixture, 'trn_1');
    expect(typesOf(fixture.sessions.journalOf('trn_1'))).not.toContain('agent.tool_result');
    fixture.queueTurns({}, queuedTurn('trn_2', 'next'));
    await fixture.waitForOutcome('trn_2');
  });

  it('stops within a second without a hint', async () => {
    const count = createRecordingTool();
    count.answer = pendingAnswer().answer;
    await using fixture = await openTestRunner({ transport, tools: [count.tool] });
    fixture.queueTurns(calling('a'), queuedTurn('trn_1', ''));
    await until('the tool runs', () => count.runs.length === 1);
    fixture.sessions.revokeLease('trn_1');
    const interruptedAt = fixture.clock.now().getTime();
    await fixture.advanceUntil('the tool is aborted', () => count.runs[0]?.call.signal.aborted === true, 10);
    expect(fixture.clock.now().getTime() - interruptedAt).toBeLessThanOrEqual(1_500);
    await expectNoReports(fixture, 'trn_1');
  });

  it('does not affect other turns', async () => {
    const count = createRecordingTool();
    const waiting = pendingAnswer();
    count.answer = waiting.answer;
    await using fixture = await openTestRunner({ transport, tools: [count.tool] });
    fixture.queueTurns(calling('a'), queuedTurn('trn_1', ''));
    await until('the tool runs', () => count.runs.length === 1);
    fixture.context.bus.publish('turns.interrupted', 'trn_2');
    fixture.context.bus.publish('turns.interrupted', '');
    waiting.release();
    expect(outcomeOf(await fixture.waitForOutcome('trn_1'))?.$case).toBe('completed');
  });
});

describe.each(TRANSPORTS)('a tool call before its dispatch is journaled, %s', (transport) => {
  it('waits until the repeated dispatch report is answered and runs once', async () => {
    const count = createRecordingTool();
    await using fixture = await openTestRunner({ transport, tools: [count.tool] });
    let lost = 0;
    fixture.sessions.after.report = () => {
      if (lost++ < 3) throw refuse('DEPENDENCY_UNAVAILABLE', 'the response was lost');
      expect(count.runs.length).toBe(lost === 4 ? 0 : 1);
    };
    fixture.queueTurns(calling('a'), queuedTurn('trn_1', ''));
    await fixture.advanceUntil(
      'the turn has ended',
      () => fixture.sessions.journalOf('trn_1').outcomes.length > 0,
      5,
    );
    expect(fixture.sessions.journalOf('trn_1').repeated).toBe(3);
    expect(count.runs.length).toBe(1);
  });

  it('does not run when the lease is lost before the dispatch is journaled', async () => {
    const count = createRecordingTool();
    await using fixture = await openTestRunner({ transport, tools: [count.tool] });
    fixture.sessions.before.report = () => fixture.sessions.revokeLease('trn_1');
    fixture.queueTurns(calling('a'), queuedTurn('trn_1', ''));
    await until('the report was rejected', () => reportsOf(fixture, 'trn_1') === 1);
    await expectNoReports(fixture, 'trn_1');
    expect(count.runs).toEqual([]);
    expect(fixture.sessions.journalOf('trn_1').appended).toBe(0);
  });

  it('does not run when the turn is interrupted before the response arrives', async () => {
    const count = createRecordingTool();
    await using fixture = await openTestRunner({ transport, tools: [count.tool] });
    const response = Promise.withResolvers<void>();
    fixture.sessions.after.report = () => response.promise;
    fixture.queueTurns(calling('a'), queuedTurn('trn_1', ''));
    await until('the report is appended', () => fixture.sessions.journalOf('trn_1').appended === 1);
    fixture.sessions.revokeLease('trn_1');
    fixture.context.bus.publish('turns.interrupted', 'trn_1');
    response.resolve();
    await expectNoReports(fixture, 'trn_1');
    expect(count.runs).toEqual([]);
  });

  it('does not run when the runner was suspended until its lease expired', async () => {
    const count = createRecordingTool();
    await using fixture = await openTestRunner({ transport, leaseMs: 3_000, tools: [count.tool] });
    const response = Promise.withResolvers<void>();
    fixture.sessions.after.report = () => response.promise;
    // No renewal is answered, as in a suspended process while time passes.
    fixture.sessions.before.renew = () => new Promise(() => {});
    fixture.queueTurns(calling('a'), queuedTurn('trn_1', ''));
    await until('the report is appended', () => fixture.sessions.journalOf('trn_1').appended === 1);
    const now = fixture.clock.now;
    fixture.clock.now = () => new Date(now().getTime() + 3_000);
    fixture.sessions.after.report = undefined;
    response.resolve();
    await expectNoReports(fixture, 'trn_1');
    expect(count.runs).toEqual([]);
  });

  it('reports nothing when the runner was suspended until its lease expired', async () => {
    const count = createRecordingTool();
    const waiting = pendingAnswer();
    count.answer = waiting.answer;
    await using fixture = await openTestRunner({ transport, leaseMs: 3_000, tools: [count.tool] });
    fixture.sessions.before.renew = () => new Promise(() => {});
    fixture.queueTurns(calling('a'), queuedTurn('trn_1', ''));
    await until('the tool runs', () => count.runs.length === 1);
    const before = reportsOf(fixture, 'trn_1');
    const now = fixture.clock.now;
    fixture.clock.now = () => new Date(now().getTime() + 3_000);
    waiting.release();
    await expectNoReports(fixture, 'trn_1');
    expect(reportsOf(fixture, 'trn_1')).toBe(before);
  });
});
