import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_MESSAGE_BYTES } from '../../../lib/grpc/transport.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { message, NO_USAGE, queuedTurn } from './fake-sessions.ts';
import { dataOf, openTestRunner, outcomeOf, script, textOf, typesOf } from './runner-fixture.ts';

describe.each(TRANSPORTS)('a turn of rehearsal/echo, %s', (transport) => {
  it('echoes the message and ends', async () => {
    await using fixture = await openTestRunner({ transport });
    fixture.queueTurns({}, queuedTurn('trn_1', 'say  this\nagain'));
    const journal = await fixture.waitForOutcome('trn_1');
    expect(typesOf(journal)).toEqual(['model.request_started', 'agent.message', 'model.request_finished']);
    expect(dataOf(journal, 'agent.message')).toEqual([
      {
        message_id: expect.stringMatching(/^msg_/),
        content: [{ type: 'text', text: 'say  this\nagain' }],
        model: 'rehearsal/echo',
        finish_reason: 'stop',
      },
    ]);
    expect(dataOf(journal, 'model.request_finished')).toEqual([
      {
        model: 'rehearsal/echo',
        usage: {
          ...{ input_tokens: 3, output_tokens: 3, cached_input_tokens: 0, cache_write_tokens: 0 },
          ...{ reasoning_tokens: 0, estimated: false },
        },
        ttft_ms: 0,
        duration_ms: 0,
        is_error: false,
      },
    ]);
    expect(outcomeOf(journal)).toEqual({ $case: 'completed', value: { stopReason: 'end_turn' } });
    expect(journal.usage).toEqual({ ...NO_USAGE, inputTokens: 3, outputTokens: 3, steps: 1 });
    expect(journal).toMatchObject({ openMessageId: '', appended: 1 });
  });

  it('preserves every text exactly', async () => {
    await using fixture = await openTestRunner({ transport, slots: 64 });
    const version = fixture.agents.add({});
    let number = 0;
    const anyText = fc.oneof(
      fc.constantFrom('', '\0', '\uFEFF', ' ', '\uD83D', '\uDE00', 'a\r\n\tb ', '  leading', '\u2028'),
      fc.string({ unit: 'binary', maxLength: 3_000 }),
      fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
      fc.array(fc.constantFrom(' ', '\n', 'word', '😀'), { maxLength: 2_000 }).map((parts) => parts.join('')),
    );
    await fc.assert(
      fc.asyncProperty(anyText, async (text) => {
        const turnId = `trn_${++number}`;
        fixture.sessions.queue({ ...queuedTurn(turnId, text), agentVersion: version });
        fixture.context.bus.publish('turns.ready', '');
        expect(textOf(await fixture.waitForOutcome(turnId))).toBe(text);
      }),
      { numRuns: 150 },
    );
  });

  it('echoes a message of many megabytes within the message size limit', async () => {
    await using fixture = await openTestRunner({ transport });
    const text = 'ten letters and "quotes" '.repeat(420_000);
    const event = message('trn_1', 1, 'user.message', text);
    fixture.queueTurns({}, { turnId: 'trn_1', messages: [event], page: 1 });
    expect(textOf(await fixture.waitForOutcome('trn_1')) === text).toBe(true);
  });

  it('fails when the answer exceeds the size of a message between services', async () => {
    await using fixture = await openTestRunner({ transport });
    const steps = { text: '{{input}}'.repeat(12) };
    // Each NUL takes six bytes in the JSON of an event.
    fixture.queueTurns(script(steps), queuedTurn('trn_1', '\0'.repeat(MAX_MESSAGE_BYTES / 64)));
    const journal = await fixture.waitForOutcome('trn_1');
    expect(outcomeOf(journal)).toMatchObject({
      $case: 'failed',
      value: { error: { code: 'model_output_too_large' } },
    });
  });

  it('sends earlier turns in order and no queued turns to the model', async () => {
    await using fixture = await openTestRunner({ transport });
    const messages = [
      message('trn_1', 1, 'user.message', 'one'),
      message('trn_2', 2, 'user.message', 'two two'),
      message('trn_3', 3, 'user.message', 'three three three'),
      message('trn_1', 4, 'agent.message', 'answer'),
    ];
    fixture.queueTurns({ system: 'a system prompt' }, { turnId: 'trn_2', messages });
    const journal = await fixture.waitForOutcome('trn_2');
    expect(textOf(journal)).toBe('two two');
    expect(journal.usage.inputTokens).toBe(3 + 1 + 1 + 2);
  });

  it('loads the messages with ListMessages when the claim is incomplete', async () => {
    await using fixture = await openTestRunner({ transport });
    const messages = [1, 2, 3, 4, 5].map((n) => message(`trn_${n}`, n, 'user.message', `word${n}`));
    fixture.queueTurns({}, { turnId: 'trn_5', messages, page: 2 });
    const journal = await fixture.waitForOutcome('trn_5');
    expect(textOf(journal)).toBe('word5');
    expect(journal.usage.inputTokens).toBe(5);
  });

  it('does not repeat the model request when the answer is journaled without an outcome', async () => {
    await using fixture = await openTestRunner({ transport });
    const messages = [
      message('trn_1', 1, 'user.message', 'one'),
      message('trn_1', 2, 'agent.message', 'already answered'),
    ];
    fixture.queueTurns({}, { turnId: 'trn_1', messages, attempt: 2 });
    const journal = await fixture.waitForOutcome('trn_1');
    expect(journal.events).toEqual([]);
    expect(outcomeOf(journal)).toEqual({ $case: 'completed', value: { stopReason: 'end_turn' } });
  });
});

describe('the agent of a turn', () => {
  it('is loaded once for all of its turns', async () => {
    await using fixture = await openTestRunner();
    fixture.queueTurns({}, ...[1, 2, 3, 4, 5].map((n) => queuedTurn(`trn_${n}`, 'hello')));
    for (const n of [1, 2, 3, 4, 5]) await fixture.waitForOutcome(`trn_${n}`);
    expect(fixture.agents.versionRequests).toBe(1);
  });

  it('fails the turn with agent_version_missing when its version does not exist', async () => {
    await using fixture = await openTestRunner();
    fixture.queueTurns({}, { ...queuedTurn('trn_1', 'hello'), agentVersion: 7 });
    expect(outcomeOf(await fixture.waitForOutcome('trn_1'))).toMatchObject({
      $case: 'failed',
      value: { error: { code: 'agent_version_missing' } },
    });
  });

  it('fails the turn with model_unknown when its model is unknown', async () => {
    await using fixture = await openTestRunner();
    fixture.queueTurns({ model: 'elsewhere/large' }, queuedTurn('trn_1', 'hello'));
    expect(outcomeOf(await fixture.waitForOutcome('trn_1'))).toMatchObject({
      $case: 'failed',
      value: {
        error: {
          code: 'model_unknown',
          message: 'Unknown model elsewhere/large. Change the model of the agent.',
        },
      },
    });
  });

  it('is loaded again by a retry after the agents service was unavailable', async () => {
    await using fixture = await openTestRunner();
    fixture.agents.isUnavailable = true;
    fixture.queueTurns({}, queuedTurn('trn_1', 'hello'));
    expect(outcomeOf(await fixture.waitForOutcome('trn_1'))).toMatchObject({
      $case: 'retry',
      value: { error: { code: 'dependency_unavailable' }, delayMs: 0 },
    });
    fixture.agents.isUnavailable = false;
    fixture.sessions.queue({ ...queuedTurn('trn_2', 'hello'), agentVersion: 1 });
    fixture.context.bus.publish('turns.ready', '');
    expect(textOf(await fixture.waitForOutcome('trn_2'))).toBe('hello');
  });
});

describe('the budget of a turn', () => {
  it('ends the turn at the token limit and keeps the text', async () => {
    await using fixture = await openTestRunner();
    fixture.queueTurns({ budget: { maxTokens: 2 } }, queuedTurn('trn_1', 'one two three'));
    const journal = await fixture.waitForOutcome('trn_1');
    expect(dataOf(journal, 'agent.message')).toMatchObject([
      { content: [{ type: 'text', text: 'one two ' }], finish_reason: 'length' },
    ]);
    expect(outcomeOf(journal)).toEqual({ $case: 'completed', value: { stopReason: 'budget_reached' } });
  });

  it('is not reached by an answer of exactly the limit', async () => {
    await using fixture = await openTestRunner();
    fixture.queueTurns({ budget: { maxTokens: 3 } }, queuedTurn('trn_1', 'one two three'));
    expect(outcomeOf(await fixture.waitForOutcome('trn_1'))).toEqual({
      $case: 'completed',
      value: { stopReason: 'end_turn' },
    });
  });

  it('includes the usage of earlier attempts', async () => {
    await using fixture = await openTestRunner();
    const usage = { ...NO_USAGE, outputTokens: 3 };
    fixture.queueTurns(
      { budget: { maxTokens: 3 } },
      { ...queuedTurn('trn_1', 'one two three'), attempt: 2, usage },
    );
    const journal = await fixture.waitForOutcome('trn_1');
    expect(journal.events).toEqual([]);
    expect(outcomeOf(journal)).toEqual({ $case: 'completed', value: { stopReason: 'budget_reached' } });
  });

  it('ends the turn at the time limit and keeps the text', async () => {
    await using fixture = await openTestRunner();
    const slow = script({ text: 'one two three four', chunk_chars: 4, delay_ms: 400 });
    fixture.queueTurns(
      { ...slow, budget: { maxTokens: undefined, maxTurnSeconds: 1 } },
      queuedTurn('trn_1', ''),
    );
    await fixture.advanceUntil(
      'the turn has ended',
      () => fixture.sessions.journalOf('trn_1').outcomes.length > 0,
    );
    const journal = fixture.sessions.journalOf('trn_1');
    expect(dataOf(journal, 'agent.message')).toMatchObject([
      { content: [{ type: 'text', text: 'one two ' }], finish_reason: 'length' },
    ]);
    expect(typesOf(journal)).not.toContain('agent.message_discarded');
    expect(outcomeOf(journal)).toEqual({ $case: 'completed', value: { stopReason: 'budget_reached' } });
    expect(journal.usage.activeMs).toBeGreaterThanOrEqual(1_000);
  });
});
