import { describe, expect, it } from 'vitest';
import { queuedTurn } from './fake-sessions.ts';
import { calling, createRecordingTool, pendingAnswer } from './recording-tool.ts';
import { dataOf, openTestRunner, type RunnerUnderTest, script, textOf, typesOf } from './runner-fixture.ts';

const FOLLOWED_MS = 30;
const UNFOLLOWED_MS = 500;
/** A message of two seconds. */
const LONG = script({ text: 'x'.repeat(200), chunk_chars: 1, delay_ms: 10 });
const SESSION = 'ses_trn_1';

/** Starts a runner with the turn `trn_1`, whose session has no follower. */
async function openUnfollowed(runtime: ReturnType<typeof script>, settings = {}): Promise<RunnerUnderTest> {
  const fixture = await openTestRunner(settings);
  fixture.sessions.unfollowed.add('trn_1');
  fixture.queueTurns(runtime, queuedTurn('trn_1', ''));
  return fixture;
}

const journalOf = (fixture: RunnerUnderTest) => fixture.sessions.journalOf('trn_1');
const textLengths = (fixture: RunnerUnderTest) =>
  dataOf(journalOf(fixture), 'agent.message_delta').map(({ delta }) => String(delta).length);
const hasEnded = (fixture: RunnerUnderTest) => journalOf(fixture).outcomes.length > 0;

/** Advances the clock until the condition holds. Returns the time that has passed on it, in milliseconds. */
async function timeUntil(fixture: RunnerUnderTest, what: string, holds: () => boolean): Promise<number> {
  const start = fixture.clock.now().getTime();
  await fixture.advanceUntil(what, holds, 5);
  return fixture.clock.now().getTime() - start;
}

describe('a turn whose session has no follower', () => {
  it('reports one delta per unfollowed interval', async () => {
    await using fixture = await openUnfollowed(LONG);
    await fixture.advanceUntil('the turn has ended', () => hasEnded(fixture));
    const lengths = textLengths(fixture);
    expect(lengths.length).toBeGreaterThanOrEqual(2);
    expect(lengths.length).toBeLessThanOrEqual(4);
    expect(textOf(journalOf(fixture))).toBe('x'.repeat(200));
    expect(journalOf(fixture).appended).toBeLessThanOrEqual(lengths.length + 2);
  });

  it('reports no delta of a message that is complete within the unfollowed interval', async () => {
    await using fixture = await openUnfollowed(
      script({ text: 'x'.repeat(20), chunk_chars: 1, delay_ms: 20 }),
    );
    await fixture.advanceUntil('the turn has ended', () => hasEnded(fixture));
    expect(typesOf(journalOf(fixture))).toEqual([
      'model.request_started',
      'agent.message',
      'model.request_finished',
    ]);
    expect(journalOf(fixture).appended).toBe(1);
  });

  it('reports a message, its tool calls and their results at once', async () => {
    const count = createRecordingTool();
    const waiting = pendingAnswer();
    count.answer = waiting.answer;
    await using fixture = await openUnfollowed(calling('a'), { tools: [count.tool] });
    const has = (type: string) => () => typesOf(journalOf(fixture)).includes(type);
    expect(await timeUntil(fixture, 'the call is dispatched', has('agent.tool_dispatched'))).toBeLessThan(
      100,
    );
    expect(typesOf(journalOf(fixture))).toEqual(expect.arrayContaining(['agent.message', 'agent.tool_use']));
    waiting.release();
    expect(await timeUntil(fixture, 'the result is reported', has('agent.tool_result'))).toBeLessThan(100);
    expect(await timeUntil(fixture, 'the turn has ended', () => hasEnded(fixture))).toBeLessThan(100);
  });

  it('reports the result of a denied call while the next step streams', async () => {
    const count = createRecordingTool();
    const steps = [
      { tool: 'count', input: { label: 'a' } },
      { text: 'no', delay_ms: 400 },
    ];
    const tools = [{ name: 'count', permission: 'deny' }];
    await using fixture = await openUnfollowed({ ...script(...steps), tools }, { tools: [count.tool] });
    const isReported = () => typesOf(journalOf(fixture)).includes('agent.tool_result');
    expect(await timeUntil(fixture, 'the result is reported', isReported)).toBeLessThan(100);
    expect(hasEnded(fixture)).toBe(false);
  });

  it('collects the progress of a tool for the unfollowed interval', async () => {
    const count = createRecordingTool();
    const waiting = pendingAnswer();
    count.answer = waiting.answer;
    await using fixture = await openUnfollowed(calling('a'), { tools: [count.tool] });
    await fixture.advanceUntil('the tool runs', () => count.runs.length > 0);
    count.runs[0]?.call.progress('one ');
    const progress = () => dataOf(journalOf(fixture), 'agent.tool_progress').map((one) => one.output_delta);
    count.runs[0]?.call.progress('two');
    const ms = await timeUntil(fixture, 'progress is reported', () => progress().length > 0);
    expect(ms).toBeGreaterThanOrEqual(UNFOLLOWED_MS - FOLLOWED_MS);
    expect(progress()).toEqual(['one two']);
    waiting.release();
    await fixture.advanceUntil('the turn has ended', () => hasEnded(fixture));
  });
});

describe('a turn whose session gets its first follower', () => {
  it('reports the next delta within 60 ms of the hint, and then one per followed interval', async () => {
    await using fixture = await openUnfollowed(LONG);
    await fixture.advanceUntil('a delta is reported', () => textLengths(fixture).length === 1);
    fixture.clock.advance(200);
    fixture.context.bus.publish('sessions.followed', SESSION);
    const ms = await timeUntil(fixture, 'another delta', () => textLengths(fixture).length === 2);
    expect(ms).toBeLessThanOrEqual(60);
    expect(await timeUntil(fixture, 'two more', () => textLengths(fixture).length === 4)).toBeLessThan(120);
  });

  it('reports the next delta within 600 ms when the hint is lost', async () => {
    await using fixture = await openUnfollowed(LONG);
    await fixture.advanceUntil('a delta is reported', () => textLengths(fixture).length === 1);
    fixture.sessions.unfollowed.clear();
    const ms = await timeUntil(fixture, 'another delta', () => textLengths(fixture).length === 2);
    expect(ms).toBeLessThanOrEqual(600);
    expect(await timeUntil(fixture, 'two more', () => textLengths(fixture).length === 4)).toBeLessThan(120);
  });

  it('keeps the followed interval after an answer that is older than the hint', async () => {
    await using fixture = await openUnfollowed(LONG);
    const answer = Promise.withResolvers<void>();
    fixture.sessions.after.report = () => answer.promise;
    await fixture.advanceUntil('a delta is reported', () => textLengths(fixture).length === 1);
    fixture.context.bus.publish('sessions.followed', SESSION);
    answer.resolve();
    const ms = await timeUntil(fixture, 'three more deltas', () => textLengths(fixture).length === 4);
    expect(ms).toBeLessThan(UNFOLLOWED_MS);
  });
});

describe('a turn whose session loses its last follower', () => {
  it('returns to the unfollowed interval with the next answer', async () => {
    await using fixture = await openTestRunner();
    fixture.queueTurns(LONG, queuedTurn('trn_1', ''));
    await fixture.advanceUntil('deltas are reported', () => textLengths(fixture).length === 3);
    fixture.sessions.unfollowed.add('trn_1');
    await fixture.advanceUntil('another delta', () => textLengths(fixture).length === 4);
    const ms = await timeUntil(fixture, 'the next delta', () => textLengths(fixture).length === 5);
    expect(ms).toBeGreaterThanOrEqual(UNFOLLOWED_MS - 2 * FOLLOWED_MS);
  });
});
