import { describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { until } from '../../support/wait.ts';
import { queuedTurn } from './fake-sessions.ts';
import { createRecordingTool, pendingAnswer } from './recording-tool.ts';
import {
  dataOf,
  lastTextOf,
  openTestRunner,
  outcomeOf,
  type RunnerSettings,
  script,
  typesOf,
} from './runner-fixture.ts';

const unavailable = () => {
  throw refuse('DEPENDENCY_UNAVAILABLE', 'The answer is lost.');
};

/** Two calls in two steps, and an answer with the newest message of the user. */
const twoSteps = script(
  { tool: 'count', input: { label: 'a' } },
  { text: 'between' },
  { tool: 'count', input: { label: 'b' } },
  { text: '{{input}}' },
);

describe.each(TRANSPORTS)('steering a turn, %s', (transport) => {
  async function openWithTool(settings: RunnerSettings = {}) {
    const count = createRecordingTool();
    const fixture = await openTestRunner({ transport, tools: [count.tool], ...settings });
    return { count, fixture };
  }
  const stepsOf = (fixture: Awaited<ReturnType<typeof openTestRunner>>, turnId = 'trn_1') =>
    dataOf(fixture.sessions.journalOf(turnId), 'user.message_delivered').map(({ step }) => step);

  it('gives the model the messages before its next step, in their order', async () => {
    const { count, fixture } = await openWithTool();
    await using _ = fixture;
    count.answer = (label) => {
      if (label === 'a') for (const text of ['two', 'three']) fixture.sessions.steer('trn_1', text);
      fixture.context.bus.publish('turns.steered', 'trn_1');
      return 'done';
    };
    fixture.queueTurns(twoSteps, queuedTurn('trn_1', 'one'));
    const journal = await fixture.waitForOutcome('trn_1');
    expect(lastTextOf(journal)).toBe('three');
    expect(stepsOf(fixture)).toEqual([2, 2]);
    const types = typesOf(journal);
    expect(types.indexOf('user.message')).toBeGreaterThan(types.indexOf('agent.tool_result'));
    expect(types.indexOf('user.message')).toBeLessThan(types.lastIndexOf('model.request_started'));
    // The script goes on behind the first call.
    expect(count.runs.map(({ label }) => label)).toEqual(['a', 'b']);
  });

  it('asks for messages only when there may be any', async () => {
    const { fixture } = await openWithTool();
    await using _ = fixture;
    fixture.queueTurns(twoSteps, queuedTurn('trn_1', 'one'));
    expect(lastTextOf(await fixture.waitForOutcome('trn_1'))).toBe('one');
    expect(fixture.sessions.deliveries).toEqual([]);
  });

  it('delivers a message that waited when the turn was claimed before its first step', async () => {
    const { fixture } = await openWithTool();
    await using _ = fixture;
    fixture.sessions.steer('trn_1', 'two');
    fixture.queueTurns({}, queuedTurn('trn_1', 'one'));
    expect(lastTextOf(await fixture.waitForOutcome('trn_1'))).toBe('two');
    expect(stepsOf(fixture)).toEqual([1]);
  });

  it('learns of a message without a hint while a tool runs', async () => {
    const { count, fixture } = await openWithTool();
    await using _ = fixture;
    const waiting = pendingAnswer();
    count.answer = waiting.answer;
    fixture.queueTurns(twoSteps, queuedTurn('trn_1', 'one'));
    await until('the tool runs', () => count.runs.length === 1);
    fixture.sessions.steer('trn_1', 'two');
    const renewals = fixture.sessions.renewals.length;
    await fixture.advanceUntil('a renewal', () => fixture.sessions.renewals.length > renewals, 100);
    waiting.release();
    expect(lastTextOf(await fixture.waitForOutcome('trn_1'))).toBe('two');
    expect(stepsOf(fixture)).toEqual([2]);
  });

  it('gets a message once when the answer to its delivery is lost', async () => {
    const { count, fixture } = await openWithTool();
    await using _ = fixture;
    count.answer = (label) => {
      if (label === 'a') fixture.sessions.steer('trn_1', 'two');
      fixture.context.bus.publish('turns.steered', 'trn_1');
      return 'done';
    };
    let lost = 0;
    fixture.sessions.after.deliver = () => {
      if (lost++ === 0) unavailable();
    };
    fixture.queueTurns(twoSteps, queuedTurn('trn_1', 'one'));
    await fixture.advanceUntil(
      'the turn ends',
      () => fixture.sessions.journalOf('trn_1').outcomes.length > 0,
      50,
    );
    const journal = fixture.sessions.journalOf('trn_1');
    expect(lastTextOf(journal)).toBe('two');
    expect(stepsOf(fixture)).toEqual([2]);
    expect(outcomeOf(journal)?.$case).toBe('completed');
  });

  it('goes on with the delivered message after a crash between its delivery and the step', async () => {
    const { count, fixture } = await openWithTool();
    await using _ = fixture;
    count.answer = (label) => {
      if (label === 'a') fixture.sessions.steer('trn_1', 'two');
      fixture.context.bus.publish('turns.steered', 'trn_1');
      return 'done';
    };
    const crashing = Promise.withResolvers<void>();
    fixture.sessions.after.deliver = () => crashing.promise;
    fixture.queueTurns(twoSteps, queuedTurn('trn_1', 'one'));
    await until('the message is delivered', () => stepsOf(fixture).length === 1);
    fixture.sessions.revokeLease('trn_1');
    const crashed = fixture.crash();
    crashing.resolve();
    await crashed;
    fixture.sessions.after.deliver = undefined;
    fixture.requeue('trn_1');
    const journal = await fixture.waitForOutcome('trn_1');
    expect(lastTextOf(journal)).toBe('two');
    expect(stepsOf(fixture)).toEqual([2]);
    expect(count.runs.map(({ label }) => label)).toEqual(['a', 'b']);
  });

  it('leaves the message to the next holder when the lease is lost', async () => {
    const { count, fixture } = await openWithTool();
    await using _ = fixture;
    count.answer = (label) => {
      if (label === 'a') fixture.sessions.steer('trn_1', 'two');
      fixture.context.bus.publish('turns.steered', 'trn_1');
      return 'done';
    };
    fixture.sessions.before.deliver = () => fixture.sessions.revokeLease('trn_1');
    fixture.queueTurns(twoSteps, queuedTurn('trn_1', 'one'));
    await until('the delivery was refused', () => fixture.sessions.deliveries.length === 1);
    fixture.sessions.before.deliver = undefined;
    expect(stepsOf(fixture)).toEqual([]);
    await until('the slot is free', () => fixture.sessions.running === 0);
    fixture.requeue('trn_1');
    expect(lastTextOf(await fixture.waitForOutcome('trn_1'))).toBe('two');
    expect(stepsOf(fixture)).toEqual([2]);
  });
});
