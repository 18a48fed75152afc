import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_MESSAGE_BYTES } from '../../../lib/grpc/transport.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { dataOf, open, outcomeOf, script, textOf, typesOf } from './open.ts';
import { asked, message, NO_USAGE } from './sessions.ts';

describe.each(TRANSPORTS)('a turn of rehearsal/echo, %s', (transport) => {
  it('says the message again and ends', async () => {
    await using world = await open({ transport });
    world.ask({}, asked('trn_1', 'say  this\nagain'));
    const journal = await world.ended('trn_1');
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
        usage: { input_tokens: 3, output_tokens: 3 },
        ttft_ms: 0,
        duration_ms: 0,
        is_error: false,
      },
    ]);
    expect(outcomeOf(journal)).toEqual({ $case: 'completed', value: { stopReason: 'end_turn' } });
    expect(journal.usage).toEqual({ ...NO_USAGE, inputTokens: 3, outputTokens: 3, steps: 1 });
    expect(journal).toMatchObject({ openMessageId: '', appended: 1 });
  });

  it('keeps every text exactly as it is', async () => {
    await using world = await open({ transport, slots: 64 });
    const version = world.agents.add({});
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
        world.book.queue({ ...asked(turnId, text), agentVersion: version });
        world.context.bus.publish('turns.ready', '');
        expect(textOf(await world.ended(turnId))).toBe(text);
      }),
      { numRuns: 150 },
    );
  });

  it('says a message of many megabytes again, in reports that services can exchange', async () => {
    await using world = await open({ transport });
    const text = 'ten letters and "quotes" '.repeat(420_000);
    const event = message('trn_1', 1, 'user.message', text);
    world.ask({}, { turnId: 'trn_1', messages: [event], page: 1 });
    expect(textOf(await world.ended('trn_1')) === text).toBe(true);
  });

  it('fails when what the model said is too long for one message between services', async () => {
    await using world = await open({ transport });
    const steps = { text: '{{input}}'.repeat(12) };
    // Each NUL takes six bytes where it stands in an event.
    world.ask(script(steps), asked('trn_1', '\0'.repeat(MAX_MESSAGE_BYTES / 64)));
    const journal = await world.ended('trn_1');
    expect(outcomeOf(journal)).toMatchObject({
      $case: 'failed',
      value: { error: { code: 'model_output_too_large' } },
    });
  });

  it('tells the model of the turns before, each answer behind its question, and of none that wait', async () => {
    await using world = await open({ transport });
    const messages = [
      message('trn_1', 1, 'user.message', 'one'),
      message('trn_2', 2, 'user.message', 'two two'),
      message('trn_3', 3, 'user.message', 'three three three'),
      message('trn_1', 4, 'agent.message', 'answer'),
    ];
    world.ask({ system: 'a system prompt' }, { turnId: 'trn_2', messages });
    const journal = await world.ended('trn_2');
    expect(textOf(journal)).toBe('two two');
    expect(journal.usage.inputTokens).toBe(3 + 1 + 1 + 2);
  });

  it('reads the messages itself when the claim does not hold them all', async () => {
    await using world = await open({ transport });
    const messages = [1, 2, 3, 4, 5].map((n) => message(`trn_${n}`, n, 'user.message', `word${n}`));
    world.ask({}, { turnId: 'trn_5', messages, page: 2 });
    const journal = await world.ended('trn_5');
    expect(textOf(journal)).toBe('word5');
    expect(journal.usage.inputTokens).toBe(5);
  });

  it('does not ask the model again when the answer was kept and only its end got lost', async () => {
    await using world = await open({ transport });
    const messages = [
      message('trn_1', 1, 'user.message', 'one'),
      message('trn_1', 2, 'agent.message', 'already answered'),
    ];
    world.ask({}, { turnId: 'trn_1', messages, attempt: 2 });
    const journal = await world.ended('trn_1');
    expect(journal.events).toEqual([]);
    expect(outcomeOf(journal)).toEqual({ $case: 'completed', value: { stopReason: 'end_turn' } });
  });
});

describe('the agent of a turn', () => {
  it('is asked for once, however many turns it has', async () => {
    await using world = await open();
    world.ask({}, ...[1, 2, 3, 4, 5].map((n) => asked(`trn_${n}`, 'hello')));
    for (const n of [1, 2, 3, 4, 5]) await world.ended(`trn_${n}`);
    expect(world.agents.asked).toBe(1);
  });

  it('fails the turn when its version does not exist', async () => {
    await using world = await open();
    world.ask({}, { ...asked('trn_1', 'hello'), agentVersion: 7 });
    expect(outcomeOf(await world.ended('trn_1'))).toMatchObject({
      $case: 'failed',
      value: { error: { code: 'agent_version_missing' } },
    });
  });

  it('fails the turn when this runner does not have its model', async () => {
    await using world = await open();
    world.ask({ model: 'elsewhere/large' }, asked('trn_1', 'hello'));
    expect(outcomeOf(await world.ended('trn_1'))).toMatchObject({
      $case: 'failed',
      value: { error: { code: 'model_unknown', message: 'There is no model elsewhere/large here.' } },
    });
  });

  it('is waited for when it cannot be asked for, and is asked for again', async () => {
    await using world = await open();
    world.agents.away = true;
    world.ask({}, asked('trn_1', 'hello'));
    expect(outcomeOf(await world.ended('trn_1'))).toMatchObject({
      $case: 'retry',
      value: { error: { code: 'dependency_unavailable' }, delayMs: 0 },
    });
    world.agents.away = false;
    world.book.queue({ ...asked('trn_2', 'hello'), agentVersion: 1 });
    world.context.bus.publish('turns.ready', '');
    expect(textOf(await world.ended('trn_2'))).toBe('hello');
  });
});

describe('the budget of a turn', () => {
  it('ends it where the tokens end, and keeps what was said', async () => {
    await using world = await open();
    world.ask({ budget: { maxTokens: 2 } }, asked('trn_1', 'one two three'));
    const journal = await world.ended('trn_1');
    expect(dataOf(journal, 'agent.message')).toMatchObject([
      { content: [{ type: 'text', text: 'one two ' }], finish_reason: 'length' },
    ]);
    expect(outcomeOf(journal)).toEqual({ $case: 'completed', value: { stopReason: 'budget_reached' } });
  });

  it('is not reached by an answer that just fits', async () => {
    await using world = await open();
    world.ask({ budget: { maxTokens: 3 } }, asked('trn_1', 'one two three'));
    expect(outcomeOf(await world.ended('trn_1'))).toEqual({
      $case: 'completed',
      value: { stopReason: 'end_turn' },
    });
  });

  it('counts what earlier attempts used', async () => {
    await using world = await open();
    const usage = { ...NO_USAGE, outputTokens: 3 };
    world.ask({ budget: { maxTokens: 3 } }, { ...asked('trn_1', 'one two three'), attempt: 2, usage });
    const journal = await world.ended('trn_1');
    expect(journal.events).toEqual([]);
    expect(outcomeOf(journal)).toEqual({ $case: 'completed', value: { stopReason: 'budget_reached' } });
  });

  it('ends it where the time ends, and keeps what was said', async () => {
    await using world = await open();
    const slow = script({ text: 'one two three four', chunk_chars: 4, delay_ms: 400 });
    world.ask({ ...slow, budget: { maxTokens: undefined, maxTurnSeconds: 1 } }, asked('trn_1', ''));
    await world.passTime('the turn has ended', () => world.book.of('trn_1').outcomes.length > 0);
    const journal = world.book.of('trn_1');
    expect(dataOf(journal, 'agent.message')).toMatchObject([
      { content: [{ type: 'text', text: 'one two ' }], finish_reason: 'length' },
    ]);
    expect(typesOf(journal)).not.toContain('agent.message_discarded');
    expect(outcomeOf(journal)).toEqual({ $case: 'completed', value: { stopReason: 'budget_reached' } });
    expect(journal.usage.activeMs).toBeGreaterThanOrEqual(1_000);
  });
});
