import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dataOf, open, outcomeOf, script, textOf, typesOf } from './open.ts';
import { asked } from './sessions.ts';

function deltasOf(journal: Parameters<typeof dataOf>[0]) {
  return dataOf(journal, 'agent.message_delta') as { message_id: string; index: number; delta: string }[];
}

describe('agent.message_delta', () => {
  it('is not needed by a message that is complete within the first interval', async () => {
    await using world = await open();
    world.ask(script({ text: 'quick', chunk_chars: 1, delay_ms: 4 }), asked('trn_1', ''));
    await world.passTime('the turn has ended', () => world.book.of('trn_1').outcomes.length > 0, 1);
    expect(typesOf(world.book.of('trn_1'))).toEqual([
      'model.request_started',
      'agent.message',
      'model.request_finished',
    ]);
  });

  it('is not needed by a message that begins late and is complete soon', async () => {
    await using world = await open();
    world.ask(
      script({ text: 'late ', delay_ms: 100 }, { text: 'but quick', delay_ms: 25 }),
      asked('trn_1', ''),
    );
    await world.passTime('the turn has ended', () => world.book.of('trn_1').outcomes.length > 0, 1);
    expect(typesOf(world.book.of('trn_1'))).toEqual([
      'model.request_started',
      'agent.message',
      'model.request_finished',
    ]);
  });

  it('gathers what was said in an interval, and is counted from 0', async () => {
    await using world = await open();
    world.ask(script({ text: 'abcdefghijklmnopqrst', chunk_chars: 1, delay_ms: 10 }), asked('trn_1', ''));
    await world.passTime('the turn has ended', () => world.book.of('trn_1').outcomes.length > 0, 1);
    const journal = world.book.of('trn_1');
    const deltas = deltasOf(journal);
    const [message] = dataOf(journal, 'agent.message');
    expect(deltas.length).toBeGreaterThan(3);
    expect(deltas.map(({ index }) => index)).toEqual(deltas.map((_, index) => index));
    expect(new Set(deltas.map(({ message_id }) => message_id))).toEqual(new Set([message?.message_id]));
    expect(textOf(journal)).toBe('abcdefghijklmnopqrst');
    expect(textOf(journal)?.startsWith(deltas.map(({ delta }) => delta).join(''))).toBe(true);
    // Each holds what an interval of 30 ms brought, at 10 ms a letter.
    for (const { delta } of deltas.slice(1)) expect(delta.length).toBeLessThanOrEqual(4);
  });

  it('never parts a character, however the model parts it, and joined begins the message', async () => {
    const words = fc.array(fc.constantFrom('a', 'é', '😀', '👩‍👩‍👧', ' ', '\uD83D', '𝄞'), {
      minLength: 1,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(words, fc.integer({ min: 1, max: 3 }), async (parts, chunk_chars) => {
        await using world = await open();
        const text = parts.join('');
        world.ask(script({ text, chunk_chars, delay_ms: 31 }), asked('trn_1', ''));
        await world.passTime('the turn has ended', () => world.book.of('trn_1').outcomes.length > 0, 15);
        const journal = world.book.of('trn_1');
        expect(textOf(journal)).toBe(text);
        const deltas = deltasOf(journal);
        expect(text.startsWith(deltas.map(({ delta }) => delta).join(''))).toBe(true);
        let at = 0;
        for (const { delta } of deltas) {
          at += delta.length;
          expect(/[\uD800-\uDBFF][\uDC00-\uDFFF]/.test(text.slice(at - 1, at + 1))).toBe(false);
        }
      }),
      { numRuns: 15 },
    );
  });

  it('says which message is open, and which is discarded when the model fails in the middle', async () => {
    await using world = await open();
    const steps = [
      { text: 'half a message', chunk_chars: 2, delay_ms: 20 },
      { error: { kind: 'cut_stream' } },
    ];
    world.ask(script(...steps), asked('trn_1', ''));
    await world.passTime('a delta is reported', () => deltasOf(world.book.of('trn_1')).length > 0, 5);
    const [delta] = deltasOf(world.book.of('trn_1'));
    expect(world.book.of('trn_1').openMessageId).toBe(delta?.message_id);
    await world.passTime('the turn has ended', () => world.book.of('trn_1').outcomes.length > 0, 5);
    const journal = world.book.of('trn_1');
    expect(dataOf(journal, 'agent.message_discarded')).toEqual([
      { message_id: delta?.message_id, reason: 'model_stream_cut' },
    ]);
    expect(typesOf(journal).slice(-2)).toEqual(['agent.message_discarded', 'model.request_finished']);
    expect(journal.openMessageId).toBe('');
    expect(outcomeOf(journal)).toMatchObject({
      $case: 'retry',
      value: { error: { code: 'model_stream_cut' } },
    });
  });

  it('goes out for all turns in one call', async () => {
    await using world = await open();
    const turns = [1, 2, 3, 4, 5].map((n) => asked(`trn_${n}`, ''));
    world.ask(script({ text: 'x'.repeat(100), chunk_chars: 1, delay_ms: 10 }), ...turns);
    await world.passTime('all have said something', () =>
      turns.every(({ turnId }) => deltasOf(world.book.of(turnId)).length > 1),
    );
    expect(world.book.reports.filter(({ reports }) => reports.length === 5).length).toBeGreaterThan(1);
    for (const { reports } of world.book.reports) {
      expect(new Set(reports.map(({ turnId }) => turnId)).size).toBe(reports.length);
    }
  });
});
