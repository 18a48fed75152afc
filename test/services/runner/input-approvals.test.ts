import { describe, expect, it } from 'vitest';
import type { Ask, CallDecision } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { InputNeeded } from '../../../services/runner/tool-calls/tool-call.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { until } from '../../support/wait.ts';
import { type Journal, queuedTurn } from './fake-sessions.ts';
import { calling, createRecordingTool, pendingAnswer, type RecordingTool } from './recording-tool.ts';
import { dataOf, openTestRunner, outcomeOf, type RunnerUnderTest, script } from './runner-fixture.ts';

const END_TURN = { $case: 'completed', value: { stopReason: 'end_turn' } };
const FIRST = 'call_1_1';
const SECOND = 'call_1_2';
const FORM = { type: 'object', properties: { branch: { type: 'string' } }, required: ['branch'] };
const DETAILS = { mcp_server_id: 'mcp_1', name: 'GitHub', message: 'Which branch?', form: FORM };
const STATE = Buffer.from('state-1');

interface Fixture extends RunnerUnderTest {
  count: RecordingTool;
}

/** A runner with a tool that asks for input in its first run. */
async function openAsking(
  kind: Parameters<typeof createRecordingTool>[0] = {},
  settings: Parameters<typeof openTestRunner>[0] = {},
): Promise<Fixture> {
  const count = createRecordingTool(kind);
  count.answer = (label, { answer }) =>
    answer
      ? `${label}: ${answer.decision} ${JSON.stringify(answer.content)}`
      : new InputNeeded(DETAILS, STATE);
  const fixture = await openTestRunner({ ...settings, tools: [count.tool] });
  fixture.queueTurns(calling('a'), queuedTurn('trn_1', ''));
  await fixture.waitForOutcome('trn_1');
  return Object.assign(fixture, { count });
}

function asksOf(journal: Journal): Ask[] {
  const outcome = outcomeOf(journal);
  return outcome?.$case === 'blocked' ? outcome.value.asks : [];
}

async function decide(fixture: Fixture, decision: Partial<CallDecision>): Promise<Journal> {
  const { outcomes } = fixture.sessions.journalOf('trn_1');
  fixture.requeue('trn_1', { [FIRST]: { edited: false, ...decision } });
  return fixture.waitForOutcome('trn_1', outcomes.length + 1);
}

describe.each(TRANSPORTS)('a tool that needs input, %s', (transport) => {
  it('blocks the turn with the form and a state', async () => {
    await using fixture = await openAsking({}, { transport });
    const journal = fixture.sessions.journalOf('trn_1');
    const [ask] = asksOf(journal);
    expect(ask).toMatchObject({ kind: 'input', toolUseId: FIRST, inputJson: '{"label":"a"}', state: STATE });
    expect(JSON.parse(ask?.detailsJson ?? '')).toEqual(DETAILS);
    expect(dataOf(journal, 'agent.tool_result')).toEqual([]);
    expect(fixture.sessions.running).toBe(0);
  });

  it('is run again with the answer, as the same call', async () => {
    await using fixture = await openAsking({}, { transport });
    const journal = await decide(fixture, { decision: 'accept', contentJson: '{"branch":"main"}' });
    expect(fixture.count.runs.map(({ call }) => [call.toolUseId, call.attempt])).toEqual([
      [FIRST, 1],
      [FIRST, 2],
    ]);
    const { answer } = fixture.count.runs[1]?.call ?? {};
    expect(Buffer.from(answer?.state ?? [])).toEqual(STATE);
    expect(dataOf(journal, 'agent.tool_use').length).toBe(1);
    expect(dataOf(journal, 'agent.tool_result')).toMatchObject([{ output: 'a: accept {"branch":"main"}' }]);
    expect(journal.usage.toolCalls).toBe(1);
    expect(outcomeOf(journal)).toEqual(END_TURN);
  });
});

describe('the decision about an input', () => {
  it.each(['decline', 'cancel', 'expired'])('is told to the tool: %s', async (decision) => {
    await using fixture = await openAsking();
    const journal = await decide(fixture, { decision });
    expect(dataOf(journal, 'agent.tool_result')).toMatchObject([{ output: `a: ${decision} undefined` }]);
  });

  it('can be followed by another request for input', async () => {
    await using fixture = await openAsking();
    fixture.count.answer = (_, { answer }) =>
      Buffer.from(answer?.state ?? []).equals(STATE)
        ? new InputNeeded(DETAILS, Buffer.from('state-2'))
        : `done with ${JSON.stringify(answer?.content)}`;
    const second = await decide(fixture, { decision: 'accept', contentJson: '{"branch":"x"}' });
    expect(asksOf(second)).toMatchObject([{ kind: 'input', state: Buffer.from('state-2') }]);
    const journal = await decide(fixture, { decision: 'accept', contentJson: '{"branch":"y"}' });
    expect(dataOf(journal, 'agent.tool_result')).toMatchObject([{ output: 'done with {"branch":"y"}' }]);
    expect(fixture.count.runs.map(({ call }) => call.attempt)).toEqual([1, 2, 3]);
  });
});

describe('a runner crash around a request for input', () => {
  it('before the answer is dispatched sends the answer once', async () => {
    await using fixture = await openAsking();
    await fixture.crash();
    const journal = await decide(fixture, { decision: 'accept', contentJson: '{"branch":"main"}' });
    expect(fixture.count.runs.map(({ call }) => call.attempt)).toEqual([1, 2]);
    expect(outcomeOf(journal)).toEqual(END_TURN);
  });

  /** Crashes the runner while the tool works with the answer. */
  async function crashWithAnswer(effect: 'once' | 'idempotent'): Promise<Fixture> {
    const fixture = await openAsking({ effect });
    fixture.count.answer = pendingAnswer(true).answer;
    fixture.requeue('trn_1', {
      [FIRST]: { decision: 'accept', contentJson: '{"branch":"main"}', edited: false },
    });
    await until('the tool has the answer', () => fixture.count.runs.length === 2);
    fixture.sessions.revokeLease('trn_1');
    await fixture.crash();
    fixture.count.answer = (_, { answer }) => `done with ${JSON.stringify(answer?.content)}`;
    fixture.requeue('trn_1');
    return fixture;
  }

  it('asks for the outcome of a call of effect once, and repeats it with the answer', async () => {
    await using fixture = await crashWithAnswer('once');
    const asking = await fixture.waitForOutcome('trn_1', 2);
    expect(asksOf(asking)).toMatchObject([{ kind: 'outcome_unknown', inputJson: '{"label":"a"}' }]);
    expect(fixture.count.runs.length).toBe(2);
    const journal = await decide(fixture, { decision: 'retry' });
    expect(dataOf(journal, 'agent.tool_result')).toMatchObject([{ output: 'done with {"branch":"main"}' }]);
    expect(fixture.count.runs.map(({ call }) => call.attempt)).toEqual([1, 2, 3]);
  });

  it('repeats an idempotent call with the answer', async () => {
    await using fixture = await crashWithAnswer('idempotent');
    const journal = await fixture.waitForOutcome('trn_1', 2);
    expect(dataOf(journal, 'agent.tool_result')).toMatchObject([{ output: 'done with {"branch":"main"}' }]);
    expect(fixture.count.runs.map(({ call }) => call.attempt)).toEqual([1, 2, 3]);
  });
});

describe('a request for input', () => {
  it('is kept when the runner stops while another call runs', async () => {
    const asking = createRecordingTool({ name: 'asking' });
    asking.answer = () => new InputNeeded(DETAILS, STATE);
    const slow = createRecordingTool();
    slow.answer = pendingAnswer().answer;
    await using fixture = await openTestRunner({ tools: [asking.tool, slow.tool] });
    const steps = [
      { tool: 'asking', input: { label: 'a' } },
      { tool: 'count', input: { label: 'b' } },
      { text: 'ok' },
    ];
    fixture.queueTurns(script(...steps), queuedTurn('trn_1', ''));
    await until('both tools run', () => asking.runs.length === 1 && slow.runs.length === 1);
    const draining = fixture.runner.drain?.();
    await fixture.advanceUntil('the turn is reported', () => fixture.sessions.running === 0, 100);
    await draining;
    expect(asksOf(fixture.sessions.journalOf('trn_1'))).toMatchObject([{ kind: 'input', toolUseId: FIRST }]);
    await fixture.crash();
    fixture.requeue('trn_1', { [FIRST]: { decision: 'cancel', edited: false } });
    asking.answer = (_, { answer }) => `done: ${answer?.decision}`;
    const journal = await fixture.waitForOutcome('trn_1', 2);
    expect(asksOf(journal)).toMatchObject([{ kind: 'outcome_unknown', toolUseId: SECOND }]);
    expect(dataOf(journal, 'agent.tool_result')).toMatchObject([{ output: 'done: cancel' }]);
  });

  it.each([
    ['a state over 64 KiB', DETAILS, Buffer.alloc(64 * 1024 + 1), 'its state exceeds 65536 bytes'],
    [
      'details over 64 KiB',
      { ...DETAILS, message: 'x'.repeat(64 * 1024) },
      STATE,
      'the request exceeds 65536 bytes',
    ],
    [
      'a form with nested fields',
      { ...DETAILS, form: { type: 'object', properties: { a: { type: 'object' } } } },
      STATE,
      '/schema/properties/a/type',
    ],
    [
      'a link that is no URL',
      { ...DETAILS, form: undefined, url: 'not a url' },
      STATE,
      'the link is not a URL',
    ],
  ])('with %s is an error of the tool', async (_, details, state, problem) => {
    const count = createRecordingTool();
    const { form, ...link } = details as typeof details & { url?: string };
    const shown = form ? { ...link, form } : link;
    count.answer = () => new InputNeeded(shown as InputNeeded['details'], state);
    await using fixture = await openTestRunner({ tools: [count.tool] });
    fixture.queueTurns(calling('a'), queuedTurn('trn_1', ''));
    const journal = await fixture.waitForOutcome('trn_1');
    const [result] = dataOf(journal, 'agent.tool_result');
    expect(result).toMatchObject({ is_error: true });
    expect(String(result?.output)).toContain(`cannot be shown: ${problem}`);
  });
});
