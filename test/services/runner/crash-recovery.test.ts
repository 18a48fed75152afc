import { describe, expect, it } from 'vitest';
import type { ToolEffect } from '../../../lib/tools.ts';
import { until } from '../../support/wait.ts';
import { message, queuedTurn } from './fake-sessions.ts';
import { calling, createRecordingTool, pendingAnswer, type RecordingTool } from './recording-tool.ts';
import {
  dataOf,
  lastTextOf,
  openTestRunner,
  outcomeOf,
  type RunnerUnderTest,
  typesOf,
} from './runner-fixture.ts';

const END_TURN = { $case: 'completed', value: { stopReason: 'end_turn' } };
const ID = 'call_1_1';
const CUT_OFF = 'The tool was cut off while it ran. Whether it took effect is unknown.';

type Kind = { effect: ToolEffect; outcomeUnknown?: 'ask' | 'tell' };
const KINDS: [string, Kind][] = [
  ['reads', { effect: 'read' }],
  ['is idempotent', { effect: 'idempotent' }],
  ['acts once and asks when its outcome is unknown', { effect: 'once', outcomeUnknown: 'ask' }],
  ['acts once and returns an error when its outcome is unknown', { effect: 'once', outcomeUnknown: 'tell' }],
];

interface RunnerWithTool extends RunnerUnderTest {
  count: RecordingTool;
}

/** Starts a turn that calls a tool of this kind once. */
async function openRunner(kind: Kind): Promise<RunnerWithTool> {
  const count = createRecordingTool(kind);
  const fixture = await openTestRunner({ tools: [count.tool] });
  fixture.queueTurns(calling('a'), queuedTurn('trn_1', ''));
  return Object.assign(fixture, { count });
}

/** Crashes the runner just before or after a report with an event of this type is appended. */
async function crashAt(fixture: RunnerWithTool, when: 'before' | 'after', type: string): Promise<void> {
  const reached = Promise.withResolvers<void>();
  const never = new Promise<void>(() => {});
  fixture.sessions[when].report = ({ reports }) => {
    const isReported = reports.some(({ events }) => events.some((event) => event.type === type));
    if (!isReported) return;
    reached.resolve();
    return never;
  };
  await reached.promise;
  fixture.sessions[when].report = undefined;
  fixture.sessions.revokeLease('trn_1');
  await fixture.crash();
}

describe.each(KINDS)('a runner crash with a tool that %s', (_, kind) => {
  const isRepeatable = kind.effect !== 'once';

  it('before the message is journaled repeats the model request and runs the tool once', async () => {
    await using fixture = await openRunner(kind);
    await crashAt(fixture, 'before', 'agent.message');
    fixture.requeue('trn_1');
    expect(outcomeOf(await fixture.waitForOutcome('trn_1'))).toEqual(END_TURN);
    expect(fixture.count.runs.length).toBe(1);
  });

  it('between a message and its tool_use events journals the events and runs the calls once', async () => {
    const count = createRecordingTool(kind);
    await using fixture = await openTestRunner({ tools: [count.tool] });
    const call = { type: 'tool-call', toolCallId: ID, toolName: 'count', input: { label: 'a' } };
    const messages = [
      message('trn_1', 1, 'user.message', ''),
      message('trn_1', 2, 'agent.message', [{ type: 'text', text: 'wait' }, call]),
    ];
    fixture.queueTurns(calling('a'), { turnId: 'trn_1', messages, attempt: 2 });
    const journal = await fixture.waitForOutcome('trn_1');
    expect(typesOf(journal).slice(0, 3)).toEqual([
      'agent.tool_use',
      'agent.tool_dispatched',
      'agent.tool_result',
    ]);
    expect(count.runs.length).toBe(1);
    expect(outcomeOf(journal)).toEqual(END_TURN);
  });

  it('before the dispatch runs the call once', async () => {
    const count = createRecordingTool(kind);
    await using fixture = await openTestRunner({ tools: [count.tool] });
    const call = { type: 'tool-call', toolCallId: ID, toolName: 'count', input: { label: 'a' } };
    const messages = [message('trn_1', 1, 'user.message', ''), message('trn_1', 2, 'agent.message', [call])];
    const openCalls = [{ toolUseId: ID, dispatches: 0, decision: undefined }];
    fixture.queueTurns(calling('a'), { turnId: 'trn_1', messages, openCalls, attempt: 2 });
    const journal = await fixture.waitForOutcome('trn_1');
    expect(dataOf(journal, 'agent.tool_dispatched')).toMatchObject([{ tool_use_id: ID, attempt: 1 }]);
    expect(count.runs.length).toBe(1);
    expect(journal.usage.toolCalls).toBe(1);
  });

  /**
   * Requeues the turn, whose call is dispatched without a result, and checks how it continues.
   * `before` is the number of runs before the crash.
   */
  async function expectContinuation(fixture: RunnerWithTool, before: number): Promise<void> {
    fixture.requeue('trn_1');
    const journal = await fixture.waitForOutcome('trn_1');
    const dispatches = dataOf(journal, 'agent.tool_dispatched').map(({ attempt }) => attempt);
    if (isRepeatable) {
      expect(outcomeOf(journal)).toEqual(END_TURN);
      expect(dispatches).toEqual([1, 2]);
      expect(fixture.count.runs.at(-1)).toMatchObject({ label: 'a', call: { attempt: 2 } });
    } else {
      expect(fixture.count.runs.length).toBe(before);
      expect(dispatches).toEqual([1]);
    }
    if (kind.outcomeUnknown === 'tell') {
      expect(dataOf(journal, 'agent.tool_result')).toMatchObject([{ output: CUT_OFF, is_error: true }]);
      expect(outcomeOf(journal)).toEqual(END_TURN);
    }
    if (kind.outcomeUnknown === 'ask') {
      const ask = { kind: 'outcome_unknown', toolUseId: ID, toolName: 'count', inputJson: '{"label":"a"}' };
      expect(outcomeOf(journal)).toEqual({ $case: 'blocked', value: { asks: [ask] } });
    }
    expect(journal.usage.toolCalls).toBe(1);
  }

  it('after the dispatch and before the tool runs follows the effect of the tool', async () => {
    await using fixture = await openRunner(kind);
    await crashAt(fixture, 'after', 'agent.tool_dispatched');
    expect(fixture.count.runs.length).toBe(0);
    await expectContinuation(fixture, 0);
  });

  it.each([false, true])(
    'while the tool runs follows the effect of the tool (tool ignores its signal: %s)',
    async (ignoresSignal) => {
      await using fixture = await openRunner(kind);
      const waiting = pendingAnswer(ignoresSignal);
      fixture.count.answer = waiting.answer;
      await until('the tool runs', () => fixture.count.runs.length === 1);
      fixture.sessions.revokeLease('trn_1');
      await fixture.crash();
      expect(fixture.count.runs[0]?.call.signal.aborted).toBe(true);
      waiting.release();
      fixture.count.answer = (label) => `done ${label}`;
      await expectContinuation(fixture, 1);
    },
  );

  it('before the result is journaled follows the effect of the tool', async () => {
    await using fixture = await openRunner(kind);
    await crashAt(fixture, 'before', 'agent.tool_result');
    expect(fixture.count.runs.length).toBe(1);
    await expectContinuation(fixture, 1);
  });

  it('after the result is journaled does not run the tool again', async () => {
    await using fixture = await openRunner(kind);
    await crashAt(fixture, 'after', 'agent.tool_result');
    fixture.requeue('trn_1');
    const journal = await fixture.waitForOutcome('trn_1');
    expect(fixture.count.runs.length).toBe(1);
    expect(lastTextOf(journal)).toBe('done a');
    expect(outcomeOf(journal)).toEqual(END_TURN);
  });
});

describe('a tool call whose outcome is unknown', () => {
  /** Crashes the runner during a call, and waits until the turn requests a decision about it. */
  async function openUnknown(
    permission: 'allow' | 'ask' = 'allow',
    inputJson?: string,
  ): Promise<RunnerWithTool> {
    const count = createRecordingTool({ effect: 'once', permission });
    const fixture: RunnerWithTool = Object.assign(await openTestRunner({ tools: [count.tool] }), { count });
    fixture.queueTurns(calling('a'), queuedTurn('trn_1', ''));
    if (permission === 'ask') {
      await fixture.waitForOutcome('trn_1');
      fixture.requeue('trn_1', { [ID]: { decision: 'allow', ...(inputJson && { inputJson }) } });
    }
    await crashAt(fixture, 'before', 'agent.tool_result');
    const before = fixture.sessions.journalOf('trn_1').outcomes.length;
    fixture.requeue('trn_1');
    const journal = await fixture.waitForOutcome('trn_1', before + 1);
    expect(outcomeOf(journal)).toMatchObject({
      $case: 'blocked',
      value: { asks: [{ kind: 'outcome_unknown', inputJson: inputJson ?? '{"label":"a"}' }] },
    });
    expect(count.runs.length).toBe(1);
    return fixture;
  }

  async function decide(fixture: RunnerWithTool, decision: string, reason = '') {
    const before = fixture.sessions.journalOf('trn_1').outcomes.length;
    fixture.requeue('trn_1', { [ID]: { decision, reason } });
    const journal = await fixture.waitForOutcome('trn_1', before + 1);
    return { journal, result: dataOf(journal, 'agent.tool_result')[0] };
  }

  it('is repeated after a person decides to retry it', async () => {
    await using fixture = await openUnknown();
    const { journal, result } = await decide(fixture, 'retry');
    expect(result).toMatchObject({ output: 'done a', is_error: false });
    expect(fixture.count.runs.map(({ call }) => call.attempt)).toEqual([1, 2]);
    expect(journal.usage.toolCalls).toBe(1);
  });

  it('is not repeated twice by one decision', async () => {
    await using fixture = await openUnknown();
    fixture.requeue('trn_1', { [ID]: { decision: 'retry' } });
    await crashAt(fixture, 'before', 'agent.tool_result');
    fixture.requeue('trn_1');
    const journal = await fixture.waitForOutcome('trn_1', 2);
    expect(outcomeOf(journal)).toMatchObject({
      $case: 'blocked',
      value: { asks: [{ kind: 'outcome_unknown' }] },
    });
    expect(fixture.count.runs.length).toBe(2);
    const { result } = await decide(fixture, 'retry');
    expect(result).toMatchObject({ output: 'done a' });
    expect(fixture.count.runs.map(({ call }) => call.attempt)).toEqual([1, 2, 3]);
  });

  it('is marked as done after a person decides so', async () => {
    await using fixture = await openUnknown();
    const { journal, result } = await decide(fixture, 'mark_done', 'I have checked it');
    expect(result).toMatchObject({
      output:
        'A person reports that this call succeeded. The output of the tool is unknown. The reason: I have checked it',
      is_error: false,
    });
    expect(fixture.count.runs.length).toBe(1);
    expect(outcomeOf(journal)).toEqual(END_TURN);
  });

  it('is marked as failed after a person decides so', async () => {
    await using fixture = await openUnknown();
    const { result } = await decide(fixture, 'mark_failed');
    expect(result).toMatchObject({ output: 'A person reports that this call failed.', is_error: true });
    expect(fixture.count.runs.length).toBe(1);
  });

  it('returns an error when the request for a decision expires', async () => {
    await using fixture = await openUnknown();
    const { journal, result } = await decide(fixture, 'expired');
    expect(result).toMatchObject({
      output: `${CUT_OFF} The request to run it again expired.`,
      is_error: true,
    });
    expect(fixture.count.runs.length).toBe(1);
    expect(outcomeOf(journal)).toEqual(END_TURN);
  });

  it('is not repeated by the approval of its first run', async () => {
    await using fixture = await openUnknown('ask');
    expect((await decide(fixture, 'mark_done')).result).toMatchObject({ is_error: false });
    expect(fixture.count.runs.length).toBe(1);
  });

  it('is repeated with the edited input', async () => {
    await using fixture = await openUnknown('ask', '{"label":"b"}');
    const { result } = await decide(fixture, 'retry');
    expect(result).toMatchObject({ output: 'done b', edited_input: { label: 'b' } });
    expect(fixture.count.runs.map(({ label }) => label)).toEqual(['b', 'b']);
  });
});

describe('a graceful shutdown of the runner', () => {
  it('requeues the turn and leaves a running call of effect once open', async () => {
    await using fixture = await openRunner({ effect: 'once' });
    fixture.count.answer = pendingAnswer().answer;
    await until('the tool runs', () => fixture.count.runs.length === 1);
    const draining = fixture.runner.drain?.();
    await fixture.advanceUntil('the turn is requeued', () => fixture.sessions.running === 0, 100);
    await draining;
    expect(outcomeOf(fixture.sessions.journalOf('trn_1'))).toMatchObject({
      $case: 'retry',
      value: { error: { code: 'runner_stopping' } },
    });
    await fixture.crash();
    fixture.requeue('trn_1');
    expect(outcomeOf(await fixture.waitForOutcome('trn_1', 2))).toMatchObject({ $case: 'blocked' });
    expect(fixture.count.runs.length).toBe(1);
  });

  it('waits for a call that ends within the drain time', async () => {
    await using fixture = await openRunner({ effect: 'once' });
    const waiting = pendingAnswer();
    fixture.count.answer = waiting.answer;
    await until('the tool runs', () => fixture.count.runs.length === 1);
    const draining = fixture.runner.drain?.();
    waiting.release();
    await draining;
    expect(outcomeOf(fixture.sessions.journalOf('trn_1'))).toEqual(END_TURN);
  });
});
