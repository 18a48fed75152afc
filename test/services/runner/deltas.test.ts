import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { queuedTurn } from './fake-sessions.ts';
import { dataOf, openTestRunner, outcomeOf, script, textOf, typesOf } from './runner-fixture.ts';

function deltasOf(journal: Parameters<typeof dataOf>[0]) {
  return dataOf(journal, 'agent.message_delta') as { message_id: string; index: number; delta: string }[];
}

describe('agent.message_delta', () => {
  it('is not sent for a message that is complete within the first interval', async () => {
    await using fixture = await openTestRunner();
    fixture.queueTurns(script({ text: 'quick', chunk_chars: 1, delay_ms: 4 }), queuedTurn('trn_1', ''));
    await fixture.advanceUntil(
      'the turn has ended',
      () => fixture.sessions.journalOf('trn_1').outcomes.length > 0,
      1,
    );
    expect(typesOf(fixture.sessions.journalOf('trn_1'))).toEqual([
      'model.request_started',
      'agent.message',
      'model.request_finished',
    ]);
  });

  it('is not sent for a message that begins late and is complete within an interval', async () => {
    await using fixture = await openTestRunner();
    fixture.queueTurns(
      script({ text: 'late ', delay_ms: 100 }, { text: 'but quick', delay_ms: 25 }),
      queuedTurn('trn_1', ''),
    );
    await fixture.advanceUntil(
      'the turn has ended',
      () => fixture.sessions.journalOf('trn_1').outcomes.length > 0,
      1,
    );
    expect(typesOf(fixture.sessions.journalOf('trn_1'))).toEqual([
      'model.request_started',
      'agent.message',
      'model.request_finished',
    ]);
  });

  it('holds the text of one interval and is numbered from 0', async () => {
    await using fixture = await openTestRunner();
    fixture.queueTurns(
      script({ text: 'abcdefghijklmnopqrst', chunk_chars: 1, delay_ms: 10 }),
      queuedTurn('trn_1', ''),
    );
    await fixture.advanceUntil(
      'the turn has ended',
      () => fixture.sessions.journalOf('trn_1').outcomes.length > 0,
      1,
    );
    const journal = fixture.sessions.journalOf('trn_1');
    const deltas = deltasOf(journal);
    const [message] = dataOf(journal, 'agent.message');
    expect(deltas.length).toBeGreaterThan(3);
    expect(deltas.map(({ index }) => index)).toEqual(deltas.map((_, index) => index));
    expect(new Set(deltas.map(({ message_id }) => message_id))).toEqual(new Set([message?.message_id]));
    expect(textOf(journal)).toBe('abcdefghijklmnopqrst');
    expect(textOf(journal)?.startsWith(deltas.map(({ delta }) => delta).join(''))).toBe(true);
    // Each delta holds the text of an interval of 30 ms, at 10 ms per character.
    for (const { delta } of deltas.slice(1)) expect(delta.length).toBeLessThanOrEqual(4);
  });

  it('never splits a surrogate pair, and all deltas together are a prefix of the message', async () => {
    const words = fc.array(fc.constantFrom('a', 'é', '😀', '👩‍👩‍👧', ' ', '\uD83D', '𝄞'), {
      minLength: 1,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(words, fc.integer({ min: 1, max: 3 }), async (parts, chunk_chars) => {
        await using fixture = await openTestRunner();
        const text = parts.join('');
        fixture.queueTurns(script({ text, chunk_chars, delay_ms: 31 }), queuedTurn('trn_1', ''));
        await fixture.advanceUntil(
          'the turn has ended',
          () => fixture.sessions.journalOf('trn_1').outcomes.length > 0,
          15,
        );
        const journal = fixture.sessions.journalOf('trn_1');
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

  it('names the open message, which is discarded when the stream is interrupted', async () => {
    await using fixture = await openTestRunner();
    const steps = [
      { text: 'half a message', chunk_chars: 2, delay_ms: 20 },
      { error: { kind: 'cut_stream' } },
    ];
    fixture.queueTurns(script(...steps), queuedTurn('trn_1', ''));
    await fixture.advanceUntil(
      'a delta is reported',
      () => deltasOf(fixture.sessions.journalOf('trn_1')).length > 0,
      5,
    );
    const [delta] = deltasOf(fixture.sessions.journalOf('trn_1'));
    expect(fixture.sessions.journalOf('trn_1').openMessageId).toBe(delta?.message_id);
    await fixture.advanceUntil(
      'the turn has ended',
      () => fixture.sessions.journalOf('trn_1').outcomes.length > 0,
      5,
    );
    const journal = fixture.sessions.journalOf('trn_1');
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

  it('is reported for all turns in one call', async () => {
    await using fixture = await openTestRunner();
    const turns = [1, 2, 3, 4, 5].map((n) => queuedTurn(`trn_${n}`, ''));
    fixture.queueTurns(script({ text: 'x'.repeat(100), chunk_chars: 1, delay_ms: 10 }), ...turns);
    await fixture.advanceUntil('all turns have reported deltas', () =>
      turns.every(({ turnId }) => deltasOf(fixture.sessions.journalOf(turnId)).length > 1),
    );
    expect(fixture.sessions.reports.filter(({ reports }) => reports.length === 5).length).toBeGreaterThan(1);
    for (const { reports } of fixture.sessions.reports) {
      expect(new Set(reports.map(({ turnId }) => turnId)).size).toBe(reports.length);
    }
  });
});
