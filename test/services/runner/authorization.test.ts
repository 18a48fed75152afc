import { describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import type { Ask, CallDecision } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import {
  AuthorizationNeeded,
  type PendingToolCall,
  type Preparation,
} from '../../../services/runner/tool-calls/tool-call.ts';
import type { Tool } from '../../../services/runner/tools/tool.ts';
import { captureLog } from '../../support/captured-log.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { until } from '../../support/wait.ts';
import { type Journal, message, queuedTurn } from './fake-sessions.ts';
import { calling, createRecordingTool, pendingAnswer } from './recording-tool.ts';
import { dataOf, openTestRunner, outcomeOf, type RunnerSettings, script, typesOf } from './runner-fixture.ts';

const END_TURN = { $case: 'completed', value: { stopReason: 'end_turn' } };
const FIRST = 'call_1_1';
const SECOND = 'call_1_2';
const SERVER = { mcp_server_id: 'mcp_1', name: 'GitHub', host: 'api.github.test' };
const DETAILS = { ...SERVER, reason: 'not_connected', who: 'you' } as const;
const READY: Preparation = { kind: 'ready' };
const MISSING: Preparation = { kind: 'authorization_needed', details: DETAILS };

type ToolKind = Parameters<typeof createRecordingTool>[0];

/** A runner with a tool that is prepared as `prepare` says, and the calls that were prepared. */
async function openPrepared(
  prepare: (call: PendingToolCall, times: number) => Promise<Preparation> | Preparation,
  kind: ToolKind = {},
  settings: RunnerSettings = {},
) {
  const count = createRecordingTool(kind);
  const prepared: PendingToolCall[] = [];
  const tool: Tool = {
    ...count.tool,
    server: SERVER,
    async prepare(call) {
      prepared.push(call);
      return prepare(call, prepared.length);
    },
  };
  const fixture = await openTestRunner({ ...settings, tools: [tool, ...(settings.tools ?? [])] });
  return Object.assign(fixture, { count, prepared });
}

function asksOf(journal: Journal): Ask[] {
  const outcome = outcomeOf(journal);
  return outcome?.$case === 'blocked' ? outcome.value.asks : [];
}

/** Runs a turn whose call lacks a credential, and decides about it. */
async function runDecided(decision: Partial<CallDecision>, kind: ToolKind = {}) {
  await using fixture = await openPrepared((_, times) => (times === 1 ? MISSING : READY), kind);
  fixture.queueTurns(calling('a'), queuedTurn('trn_1', ''));
  await fixture.waitForOutcome('trn_1');
  fixture.requeue('trn_1', { [FIRST]: { inputJson: '', edited: false, ...decision } });
  const journal = await fixture.waitForOutcome('trn_1', 2);
  const [result] = dataOf(journal, 'agent.tool_result');
  return { journal, result, runs: fixture.count.runs, prepared: fixture.prepared };
}

describe.each(TRANSPORTS)('a call without a credential, %s', (transport) => {
  it('blocks the turn before it is dispatched', async () => {
    await using fixture = await openPrepared(() => MISSING, {}, { transport });
    fixture.queueTurns(calling('a'), queuedTurn('trn_1', ''));
    const journal = await fixture.waitForOutcome('trn_1');
    expect(asksOf(journal)).toMatchObject([
      { kind: 'authorization', toolUseId: FIRST, toolName: 'count', inputJson: '{"label":"a"}' },
    ]);
    expect(JSON.parse(asksOf(journal)[0]?.detailsJson ?? '')).toEqual(DETAILS);
    expect(typesOf(journal)).not.toContain('agent.tool_dispatched');
    expect(fixture.count.runs).toEqual([]);
    expect(journal.usage.toolCalls).toBe(0);
    expect(fixture.sessions.running).toBe(0);
    expect(fixture.prepared[0]).toMatchObject({
      toolUseId: FIRST,
      turn: { lease: { turnId: 'trn_1' }, ownerId: 'usr_1' },
    });
  });
});

describe('the decision about an authorization', () => {
  it('prepares the call again and sends it once after retry', async () => {
    const { journal, result, runs, prepared } = await runDecided({ decision: 'retry' });
    expect(prepared.length).toBe(2);
    expect(runs.map(({ label }) => label)).toEqual(['a']);
    expect(result).toMatchObject({ output: 'done a', is_error: false });
    expect(dataOf(journal, 'agent.tool_use').length).toBe(1);
    expect(dataOf(journal, 'agent.tool_dispatched').length).toBe(1);
    expect(outcomeOf(journal)).toEqual(END_TURN);
  });

  it('blocks the turn again after retry while the credential is missing', async () => {
    await using fixture = await openPrepared(() => MISSING);
    fixture.queueTurns(calling('a'), queuedTurn('trn_1', ''));
    await fixture.waitForOutcome('trn_1');
    fixture.requeue('trn_1', { [FIRST]: { decision: 'retry', inputJson: '', edited: false } });
    expect(asksOf(await fixture.waitForOutcome('trn_1', 2))).toMatchObject([{ kind: 'authorization' }]);
    expect(fixture.count.runs).toEqual([]);
  });

  it.each([
    [{ decision: 'deny' }, 'No access to GitHub: a person decided to go on without it.'],
    [{ decision: 'deny', reason: 'not today' }, 'No access to GitHub: not today'],
    [{ decision: 'expired', reason: 'expired' }, 'No access to GitHub: the request for it expired.'],
  ])('gives the model an error after %j', async (decision, output) => {
    const { journal, result, runs } = await runDecided(decision);
    expect(result).toMatchObject({ output, is_error: true });
    expect(runs).toEqual([]);
    expect(outcomeOf(journal)).toEqual(END_TURN);
  });

  it('does not ask for the permission of the call again', async () => {
    await using fixture = await openPrepared((_, times) => (times === 1 ? MISSING : READY), {
      permission: 'ask',
    });
    fixture.queueTurns(calling('a'), queuedTurn('trn_1', ''));
    await fixture.waitForOutcome('trn_1');
    expect(fixture.prepared).toEqual([]);
    fixture.requeue('trn_1', { [FIRST]: { decision: 'allow', inputJson: '{"label":"b"}' } });
    const [ask] = asksOf(await fixture.waitForOutcome('trn_1', 2));
    expect(ask).toMatchObject({ kind: 'authorization', inputJson: '{"label":"b"}' });
    fixture.requeue('trn_1', { [FIRST]: { decision: 'retry', inputJson: '{"label":"b"}' } });
    const journal = await fixture.waitForOutcome('trn_1', 3);
    expect(fixture.count.runs.map(({ label }) => label)).toEqual(['b']);
    expect(dataOf(journal, 'agent.tool_result')).toMatchObject([{ edited_input: { label: 'b' } }]);
  });
});

describe('the preparation of calls', () => {
  it('gives the model the error of a refused call', async () => {
    await using fixture = await openPrepared(() => ({ kind: 'refused', output: 'It has changed.' }));
    fixture.queueTurns(calling('a'), queuedTurn('trn_1', ''));
    const journal = await fixture.waitForOutcome('trn_1');
    expect(dataOf(journal, 'agent.tool_result')).toMatchObject([
      { output: 'It has changed.', is_error: true },
    ]);
    expect(typesOf(journal)).not.toContain('agent.tool_dispatched');
    expect(outcomeOf(journal)).toEqual(END_TURN);
  });

  it('comes after the checks of permission and input', async () => {
    await using fixture = await openPrepared(() => READY, { permission: 'ask' });
    const steps = [{ tool: 'count', input: {} }, { tool: 'count', input: { label: 'a' } }, { text: 'ok' }];
    fixture.queueTurns(script(...steps), queuedTurn('trn_1', ''));
    const journal = await fixture.waitForOutcome('trn_1');
    expect(asksOf(journal)).toMatchObject([{ kind: 'tool', toolUseId: SECOND }]);
    expect(dataOf(journal, 'agent.tool_result')).toMatchObject([{ tool_use_id: FIRST, is_error: true }]);
    expect(fixture.prepared).toEqual([]);
  });

  it('precedes a call that is repeated after a crash', async () => {
    await using fixture = await openPrepared(() => READY, { effect: 'idempotent' });
    const call = { type: 'tool-call', toolCallId: FIRST, toolName: 'count', input: { label: 'a' } };
    const messages = [message('trn_1', 1, 'user.message', ''), message('trn_1', 2, 'agent.message', [call])];
    const openCalls = [{ toolUseId: FIRST, dispatches: 1, decision: undefined }];
    fixture.queueTurns(calling('a'), { turnId: 'trn_1', messages, openCalls, attempt: 2 });
    await fixture.waitForOutcome('trn_1');
    expect(fixture.prepared.length).toBe(1);
    expect(fixture.count.runs.map(({ call: { attempt } }) => attempt)).toEqual([2]);
  });

  it('does not delay the other calls of the step, and requests all credentials together', async () => {
    const other = createRecordingTool({ name: 'other' });
    await using fixture = await openPrepared(() => MISSING, {}, { tools: [other.tool] });
    const count = (label: string) => ({ tool: 'count', input: { label } });
    const steps = [count('a'), { tool: 'other', input: { label: 'x' } }, count('b'), { text: 'ok' }];
    fixture.queueTurns(script(...steps), queuedTurn('trn_1', ''));
    const journal = await fixture.waitForOutcome('trn_1');
    expect(other.runs.map(({ label }) => label)).toEqual(['x']);
    expect(asksOf(journal).map(({ toolUseId }) => toolUseId)).toEqual([FIRST, 'call_1_3']);
  });

  it('is repeated before the turn blocks, because the user may have connected while other calls ran', async () => {
    let isConnected = false;
    const other = createRecordingTool({ name: 'other' });
    other.answer = () => {
      isConnected = true;
      return 'done';
    };
    const prepare = () => (isConnected ? READY : MISSING);
    await using fixture = await openPrepared(prepare, {}, { tools: [other.tool] });
    const steps = [
      { tool: 'count', input: { label: 'a' } },
      { tool: 'other', input: { label: 'x' } },
      { text: 'ok' },
    ];
    fixture.queueTurns(script(...steps), queuedTurn('trn_1', ''));
    const journal = await fixture.waitForOutcome('trn_1');
    expect(outcomeOf(journal)).toEqual(END_TURN);
    expect(fixture.count.runs.map(({ label }) => label)).toEqual(['a']);
    expect(other.runs.length).toBe(1);
    expect(dataOf(journal, 'agent.tool_dispatched').map(({ attempt }) => attempt)).toEqual([1, 1]);
  });

  it('is reported as a defect when it throws unexpectedly', async () => {
    const { log, lines } = captureLog();
    const fail = () => {
      throw new TypeError('x is undefined');
    };
    await using fixture = await openPrepared(fail, {}, { log });
    fixture.queueTurns(calling('a'), queuedTurn('trn_1', ''));
    const journal = await fixture.waitForOutcome('trn_1');
    expect(dataOf(journal, 'agent.tool_result')).toMatchObject([
      { output: 'The tool failed because of an internal error.', is_error: true },
    ]);
    expect(lines).toMatchObject([{ msg: 'preparing a tool call failed unexpectedly', tool: 'count' }]);
  });

  it('gives the turn up when its lease is lost', async () => {
    await using fixture = await openPrepared(() =>
      Promise.reject(refuse('LEASE_LOST', 'The lease is lost.')),
    );
    fixture.queueTurns(calling('a'), queuedTurn('trn_1', ''));
    await until('the call is prepared', () => fixture.prepared.length === 1);
    const draining = fixture.runner.drain?.();
    await draining;
    const journal = fixture.sessions.journalOf('trn_1');
    expect(journal.outcomes).toEqual([]);
    expect(fixture.count.runs).toEqual([]);
  });
});

describe('a call that cannot be prepared now', () => {
  const unavailable = () => Promise.reject(refuse('DEPENDENCY_UNAVAILABLE', 'The service is unavailable.'));

  it('leads to a retry of the turn, which blocks with `unavailable` when its retries are spent', async () => {
    await using fixture = await openPrepared(unavailable);
    fixture.queueTurns(calling('a'), queuedTurn('trn_1', ''));
    const outcome = outcomeOf(await fixture.waitForOutcome('trn_1'));
    expect(outcome).toMatchObject({
      $case: 'retry',
      value: {
        error: { code: 'dependency_unavailable' },
        whenExhausted: { asks: [{ kind: 'authorization', toolUseId: FIRST }] },
      },
    });
    const [ask] = (outcome?.$case === 'retry' && outcome.value.whenExhausted?.asks) || [];
    expect(JSON.parse(ask?.detailsJson ?? '')).toEqual({
      ...SERVER,
      reason: 'unavailable',
      who: 'administrator',
    });
    expect(fixture.count.runs).toEqual([]);
  });

  it('is prepared again by the next attempt, and the other calls of the step run before', async () => {
    const other = createRecordingTool({ name: 'other' });
    const prepare = (_: PendingToolCall, times: number) => (times === 1 ? unavailable() : READY);
    await using fixture = await openPrepared(prepare, {}, { tools: [other.tool] });
    const steps = [
      { tool: 'count', input: { label: 'a' } },
      { tool: 'other', input: { label: 'x' } },
      { text: 'ok' },
    ];
    fixture.queueTurns(script(...steps), queuedTurn('trn_1', ''));
    const first = await fixture.waitForOutcome('trn_1');
    expect(dataOf(first, 'agent.tool_result')).toMatchObject([{ tool_use_id: SECOND }]);
    fixture.requeue('trn_1');
    expect(outcomeOf(await fixture.waitForOutcome('trn_1', 2))).toEqual(END_TURN);
    expect(other.runs.length).toBe(1);
    expect(fixture.count.runs.length).toBe(1);
  });

  it('counts as unavailable when its preparation exceeds the tool timeout', async () => {
    await using fixture = await openPrepared(() => new Promise(() => {}), {}, { leaseMs: 600_000 });
    fixture.queueTurns(calling('a'), queuedTurn('trn_1', ''));
    await until('the call is prepared', () => fixture.prepared.length === 1);
    const hasEnded = () => fixture.sessions.journalOf('trn_1').outcomes.length > 0;
    await fixture.advanceUntil('the turn is retried', hasEnded, 1_000);
    expect(outcomeOf(fixture.sessions.journalOf('trn_1'))).toMatchObject({ $case: 'retry' });
    expect(fixture.prepared[0]?.signal.aborted).toBe(true);
  });

  it('does not keep a stopping runner', async () => {
    await using fixture = await openPrepared(() => new Promise(() => {}));
    fixture.queueTurns(calling('a'), queuedTurn('trn_1', ''));
    await until('the call is prepared', () => fixture.prepared.length === 1);
    const draining = fixture.runner.drain?.();
    await fixture.advanceUntil('the turn is requeued', () => fixture.sessions.running === 0, 100);
    await draining;
    expect(outcomeOf(fixture.sessions.journalOf('trn_1'))).toMatchObject({
      $case: 'retry',
      value: { error: { code: 'runner_stopping' } },
    });
  });
});

describe('a server that refuses the credential of a dispatched call', () => {
  it('lets the call be sent again after a decision, also with effect once', async () => {
    await using fixture = await openPrepared(() => READY, { effect: 'once' });
    fixture.count.answer = (label, { attempt }) =>
      attempt === 1 ? new AuthorizationNeeded({ ...DETAILS, reason: 'refused' }) : `done ${label}`;
    fixture.queueTurns(calling('a'), queuedTurn('trn_1', ''));
    const blocked = await fixture.waitForOutcome('trn_1');
    expect(asksOf(blocked)).toMatchObject([{ kind: 'authorization', toolUseId: FIRST }]);
    expect(dataOf(blocked, 'agent.tool_result')).toEqual([]);
    fixture.requeue('trn_1', { [FIRST]: { decision: 'retry', inputJson: '', edited: false } });
    const journal = await fixture.waitForOutcome('trn_1', 2);
    expect(fixture.count.runs.map(({ call }) => call.attempt)).toEqual([1, 2]);
    expect(dataOf(journal, 'agent.tool_result')).toMatchObject([{ output: 'done a' }]);
    expect(journal.usage.toolCalls).toBe(1);
  });

  it('allows one dispatch: after a crash the outcome is unknown', async () => {
    await using fixture = await openPrepared(() => READY, { effect: 'once' });
    fixture.count.answer = () => new AuthorizationNeeded(DETAILS);
    fixture.queueTurns(calling('a'), queuedTurn('trn_1', ''));
    await fixture.waitForOutcome('trn_1');
    fixture.count.answer = pendingAnswer(true).answer;
    fixture.requeue('trn_1', { [FIRST]: { decision: 'retry', inputJson: '', edited: false } });
    await until('the call is sent again', () => fixture.count.runs.length === 2);
    fixture.sessions.revokeLease('trn_1');
    await fixture.crash();
    fixture.requeue('trn_1');
    expect(asksOf(await fixture.waitForOutcome('trn_1', 2))).toMatchObject([{ kind: 'outcome_unknown' }]);
    expect(fixture.count.runs.length).toBe(2);
  });
});
