import { describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { until } from '../../support/wait.ts';
import { queuedTurn } from './fake-sessions.ts';
import {
  dataOf,
  openTestRunner,
  outcomeOf,
  type RunnerUnderTest,
  script,
  textOf,
  typesOf,
} from './runner-fixture.ts';

/** Waits until this many model requests have ended and the reports of their turns are ready. */
async function modelsHaveAnswered({ context }: RunnerUnderTest, requests: number): Promise<void> {
  await until(`${requests} model requests have ended`, async () => {
    const lines = (await context.metrics.text()).matchAll(
      /^gen_ai_client_operation_duration_count\{.*\} (\d+)$/gm,
    );
    return Array.from(lines, ([, count]) => Number(count)).reduce((sum, one) => sum + one, 0) >= requests;
  });
  await new Promise((resolve) => setImmediate(resolve));
}

describe.each(TRANSPORTS)('the reporter, %s', (transport) => {
  it('repeats a report whose response is lost, and the report is appended once', async () => {
    await using fixture = await openTestRunner({ transport });
    let lost = 0;
    fixture.sessions.after.report = () => {
      if (lost++ < 3) throw refuse('DEPENDENCY_UNAVAILABLE', 'the response was lost');
    };
    fixture.queueTurns(
      script({ text: 'a story '.repeat(20), chunk_chars: 4, delay_ms: 10 }),
      queuedTurn('trn_1', ''),
    );
    await fixture.advanceUntil(
      'the turn has ended',
      () => fixture.sessions.journalOf('trn_1').outcomes.length > 0,
      5,
    );
    const journal = fixture.sessions.journalOf('trn_1');
    expect(journal.repeated).toBe(3);
    expect(textOf(journal)).toBe('a story '.repeat(20));
    const indexes = dataOf(journal, 'agent.message_delta').map(({ index }) => index);
    expect(indexes).toEqual(indexes.map((_, place) => place));
    expect(journal.outcomes.length).toBe(1);
    expect(typesOf(journal).filter((type) => type === 'model.request_started').length).toBe(1);
  });

  it('keeps undeliverable reports and sends them later while turns continue', async () => {
    await using fixture = await openTestRunner({ transport });
    let isUnavailable = true;
    fixture.sessions.before.report = () => {
      if (isUnavailable) throw refuse('DEPENDENCY_UNAVAILABLE', 'the database is unavailable');
    };
    fixture.queueTurns({}, queuedTurn('trn_1', 'one'), queuedTurn('trn_2', 'two'));
    await fixture.advanceUntil('several attempts', () => fixture.sessions.reports.length > 3, 50);
    isUnavailable = false;
    await fixture.advanceUntil('both are appended', () => fixture.sessions.running === 0, 50);
    expect(textOf(fixture.sessions.journalOf('trn_1'))).toBe('one');
    expect(textOf(fixture.sessions.journalOf('trn_2'))).toBe('two');
  });

  it('does not let an invalid report affect other reports', async () => {
    await using fixture = await openTestRunner({ transport, slots: 4 });
    fixture.sessions.before.report = ({ reports }) => {
      if (reports.some(({ turnId }) => turnId === 'trn_2'))
        throw refuse('INVALID_REQUEST', 'The report is invalid.');
    };
    fixture.queueTurns({}, ...[1, 2, 3, 4].map((n) => queuedTurn(`trn_${n}`, `turn ${n}`)));
    for (const n of [1, 3, 4]) expect(textOf(await fixture.waitForOutcome(`trn_${n}`))).toBe(`turn ${n}`);
    expect(fixture.sessions.journalOf('trn_2').appended).toBe(0);
    // Its slot is free again, and its lease is no longer renewed.
    fixture.queueTurns(
      script({ text: 'x', delay_ms: 60_000 }),
      ...[5, 6, 7, 8].map((n) => queuedTurn(`trn_${n}`, '')),
    );
    const renewed = () => fixture.sessions.renewals.at(-1)?.leases.map(({ turnId }) => turnId);
    await fixture.advanceUntil('all four are renewed', () => renewed()?.length === 4, 500);
    expect(renewed()?.sort()).toEqual(['trn_5', 'trn_6', 'trn_7', 'trn_8']);
  });

  it('batches reports that become ready while the previous call is unanswered', async () => {
    await using fixture = await openTestRunner({ transport, slots: 16 });
    const answer = Promise.withResolvers<void>();
    fixture.sessions.before.report = () => answer.promise;
    fixture.queueTurns({}, queuedTurn('trn_1', 'first'));
    await until('a call is unanswered', () => fixture.sessions.reports.length === 1);
    fixture.queueTurns({}, ...[2, 3, 4].map((n) => queuedTurn(`trn_${n}`, `turn ${n}`)));
    await modelsHaveAnswered(fixture, 4);
    expect(fixture.sessions.reports.length).toBe(1);
    answer.resolve();
    for (const n of [1, 2, 3, 4]) await fixture.waitForOutcome(`trn_${n}`);
    expect(fixture.sessions.reports.map(({ reports }) => reports.map(({ turnId }) => turnId))).toEqual([
      ['trn_1'],
      ['trn_2', 'trn_3', 'trn_4'],
    ]);
  });

  it('does not delay other turns by more than an interval when a call is slow', async () => {
    await using fixture = await openTestRunner({ transport });
    const answer = Promise.withResolvers<void>();
    fixture.sessions.before.report = ({ reports }) =>
      reports.some(({ turnId }) => turnId === 'trn_slow') ? answer.promise : undefined;
    fixture.queueTurns({}, queuedTurn('trn_slow', 'slow'));
    await until('the slow call is sent', () => fixture.sessions.reports.length === 1);
    const sentAt = fixture.clock.now().getTime();
    fixture.queueTurns({}, queuedTurn('trn_2', 'two'), queuedTurn('trn_3', 'three'));
    await modelsHaveAnswered(fixture, 3);
    const haveEnded = () =>
      ['trn_2', 'trn_3'].every((id) => fixture.sessions.journalOf(id).outcomes.length > 0);
    await fixture.advanceUntil('the other turns have ended', haveEnded);
    expect(fixture.clock.now().getTime() - sentAt).toBeLessThanOrEqual(100);
    expect(fixture.sessions.journalOf('trn_slow').appended).toBe(0);
    answer.resolve();
    expect(textOf(await fixture.waitForOutcome('trn_slow'))).toBe('slow');
    expect(fixture.sessions.journalOf('trn_slow').repeated).toBe(0);
  });

  it('does not delay other turns when a call fails and is repeated', async () => {
    await using fixture = await openTestRunner({ transport });
    let isUnavailable = true;
    fixture.sessions.before.report = ({ reports }) => {
      if (isUnavailable && reports.some(({ turnId }) => turnId === 'trn_failing'))
        throw refuse('DEPENDENCY_UNAVAILABLE', 'the database is unavailable');
    };
    fixture.queueTurns({}, queuedTurn('trn_failing', 'failing'));
    // The pause behind the fifth call is at least 800 ms.
    await fixture.advanceUntil(
      'the call has failed five times',
      () => fixture.sessions.reports.length === 5,
      50,
    );
    const startedAt = fixture.clock.now().getTime();
    fixture.queueTurns({}, queuedTurn('trn_2', 'two'));
    await modelsHaveAnswered(fixture, 2);
    await fixture.advanceUntil(
      'the other turn has ended',
      () => fixture.sessions.journalOf('trn_2').outcomes.length > 0,
    );
    expect(fixture.clock.now().getTime() - startedAt).toBeLessThanOrEqual(200);
    expect(fixture.sessions.journalOf('trn_failing').appended).toBe(0);
    isUnavailable = false;
    await fixture.advanceUntil('the failing turn has ended', () => fixture.sessions.running === 0, 50);
    expect(textOf(fixture.sessions.journalOf('trn_failing'))).toBe('failing');
  });

  it('sends no report of a turn while its previous report is unanswered', async () => {
    await using fixture = await openTestRunner({ transport });
    const answer = Promise.withResolvers<void>();
    const text = 'a story '.repeat(20);
    fixture.queueTurns(script({ text, chunk_chars: 4, delay_ms: 10 }), queuedTurn('trn_1', ''));
    await fixture.advanceUntil('the turn streams', () => fixture.sessions.journalOf('trn_1').appended > 0);
    fixture.sessions.before.report = () => answer.promise;
    const sent = fixture.sessions.reports.length;
    await fixture.advanceUntil('a report is unanswered', () => fixture.sessions.reports.length > sent);
    const until = fixture.clock.now().getTime() + 300;
    await fixture.advanceUntil('ten intervals', () => fixture.clock.now().getTime() >= until);
    expect(fixture.sessions.reports.length).toBe(sent + 1);
    answer.resolve();
    await fixture.advanceUntil(
      'the turn has ended',
      () => fixture.sessions.journalOf('trn_1').outcomes.length > 0,
    );
    expect(textOf(fixture.sessions.journalOf('trn_1'))).toBe(text);
    const numbers = fixture.sessions.reports.flatMap(({ reports }) =>
      reports.map(({ reportSeq }) => reportSeq),
    );
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  });

  it('sends a message and its tool_use events in one report', async () => {
    await using fixture = await openTestRunner({ transport, slots: 8 });
    const response = Promise.withResolvers<void>();
    fixture.sessions.before.report = () => response.promise;
    fixture.queueTurns({}, queuedTurn('trn_0', 'first'));
    await until('a report is under way', () => fixture.sessions.reports.length === 1);
    const turns = [1, 2, 3, 4].map((n) => queuedTurn(`trn_${n}`, 'x'.repeat(1_500_000)));
    // Message and call are 3 MB, so two and a half of them fit into a call between services.
    fixture.queueTurns(script({ tool: 'calculator', input: { expression: '{{input}}' } }), ...turns);
    await modelsHaveAnswered(fixture, 5);
    response.resolve();
    for (const { turnId } of turns) await fixture.waitForOutcome(turnId);
    const withCalls = fixture.sessions.reports.flatMap(({ reports }) =>
      reports.filter(({ events }) => events.some(({ dataJson }) => dataJson.includes('"tool-call"'))),
    );
    expect(withCalls.length).toBe(4);
    for (const { events } of withCalls) {
      expect(events.map(({ type }) => type)).toEqual(
        expect.arrayContaining(['agent.message', 'agent.tool_use']),
      );
    }
  });

  it('splits reports that exceed the size of a message between services', async () => {
    await using fixture = await openTestRunner({ transport, slots: 8 });
    const text = 'm'.repeat(3 * 1024 * 1024);
    const turns = [1, 2, 3, 4, 5, 6].map((n) => queuedTurn(`trn_${n}`, 'x'));
    fixture.queueTurns(script({ text }), ...turns);
    for (const { turnId } of turns)
      expect(textOf(await fixture.waitForOutcome(turnId))?.length).toBe(text.length);
    expect(fixture.sessions.reports.length).toBeGreaterThanOrEqual(3);
  });
});

describe('the outcome of a turn', () => {
  it('is reported once', async () => {
    await using fixture = await openTestRunner();
    fixture.queueTurns({}, queuedTurn('trn_1', 'one'));
    const journal = await fixture.waitForOutcome('trn_1');
    await fixture.advanceUntil('several more claims', () => fixture.sessions.claims.length > 5, 100);
    expect(journal.outcomes.length).toBe(1);
    expect(outcomeOf(journal)?.$case).toBe('completed');
    expect(fixture.sessions.reports.length).toBe(1);
  });
});
