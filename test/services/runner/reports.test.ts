import { describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { until } from '../../support/wait.ts';
import { dataOf, open, outcomeOf, script, textOf, typesOf } from './open.ts';
import { asked } from './sessions.ts';

describe.each(TRANSPORTS)('a report, %s', (transport) => {
  it('whose answer is lost is repeated with its number, and is appended once', async () => {
    await using world = await open({ transport });
    let lost = 0;
    world.book.after.report = () => {
      if (lost++ < 3) throw refuse('DEPENDENCY_UNAVAILABLE', 'the answer got lost');
    };
    world.ask(script({ text: 'a story '.repeat(20), chunk_chars: 4, delay_ms: 10 }), asked('trn_1', ''));
    await world.passTime('the turn has ended', () => world.book.of('trn_1').outcomes.length > 0, 5);
    const journal = world.book.of('trn_1');
    expect(journal.repeated).toBe(3);
    expect(textOf(journal)).toBe('a story '.repeat(20));
    const indexes = dataOf(journal, 'agent.message_delta').map(({ index }) => index);
    expect(indexes).toEqual(indexes.map((_, place) => place));
    expect(journal.outcomes.length).toBe(1);
    expect(typesOf(journal).filter((type) => type === 'model.request_started').length).toBe(1);
  });

  it('that cannot be delivered is kept and delivered later, while turns go on', async () => {
    await using world = await open({ transport });
    let isAway = true;
    world.book.before.report = () => {
      if (isAway) throw refuse('DEPENDENCY_UNAVAILABLE', 'the database is away');
    };
    world.ask({}, asked('trn_1', 'one'), asked('trn_2', 'two'));
    await world.passTime('several tries', () => world.book.reports.length > 3, 50);
    isAway = false;
    await world.passTime('both are appended', () => world.book.running === 0, 50);
    expect(textOf(world.book.of('trn_1'))).toBe('one');
    expect(textOf(world.book.of('trn_2'))).toBe('two');
  });

  it('that is at fault takes no other with it', async () => {
    await using world = await open({ transport, slots: 4 });
    world.book.before.report = ({ reports }) => {
      if (reports.some(({ turnId }) => turnId === 'trn_2')) throw refuse('INVALID_REQUEST', 'a fault');
    };
    world.ask({}, ...[1, 2, 3, 4].map((n) => asked(`trn_${n}`, `turn ${n}`)));
    for (const n of [1, 3, 4]) expect(textOf(await world.ended(`trn_${n}`))).toBe(`turn ${n}`);
    expect(world.book.of('trn_2').appended).toBe(0);
    // Its slot is free again, and its lease is not renewed any more.
    world.ask(script({ text: 'x', delay_ms: 60_000 }), ...[5, 6, 7, 8].map((n) => asked(`trn_${n}`, '')));
    const renewed = () => world.book.renewals.at(-1)?.leases.map(({ turnId }) => turnId);
    await world.passTime('all four are renewed', () => renewed()?.length === 4, 500);
    expect(renewed()?.sort()).toEqual(['trn_5', 'trn_6', 'trn_7', 'trn_8']);
  });

  it('goes out when the one before is answered, with all that has gathered', async () => {
    await using world = await open({ transport, slots: 16 });
    const underWay = Promise.withResolvers<void>();
    world.book.before.report = () => underWay.promise;
    world.ask({}, asked('trn_1', 'first'));
    await until('a report is under way', () => world.book.reports.length === 1);
    world.ask({}, ...[2, 3, 4].map((n) => asked(`trn_${n}`, `turn ${n}`)));
    await world.passTime('much time', () => world.book.claims.length > 3, 100);
    expect(world.book.reports.length).toBe(1);
    underWay.resolve();
    for (const n of [1, 2, 3, 4]) await world.ended(`trn_${n}`);
    expect(world.book.reports.map(({ reports }) => reports.map(({ turnId }) => turnId))).toEqual([
      ['trn_1'],
      ['trn_2', 'trn_3', 'trn_4'],
    ]);
  });

  it('holds a message together with the calls that it wants', async () => {
    await using world = await open({ transport, slots: 8 });
    const underWay = Promise.withResolvers<void>();
    world.book.before.report = () => underWay.promise;
    world.ask({}, asked('trn_0', 'first'));
    await until('a report is under way', () => world.book.reports.length === 1);
    const turns = [1, 2, 3, 4].map((n) => asked(`trn_${n}`, 'x'.repeat(1_500_000)));
    // Message and call are 3 MB: a call between services has room for two of them, and for half of the third.
    world.ask(script({ tool: 'calculator', input: { expression: '{{input}}' } }), ...turns);
    await world.passTime('all have spoken', () => world.book.claims.length > 4, 100);
    underWay.resolve();
    for (const { turnId } of turns) await world.ended(turnId);
    const wanting = world.book.reports.flatMap(({ reports }) =>
      reports.filter(({ events }) => events.some(({ dataJson }) => dataJson.includes('"tool-call"'))),
    );
    expect(wanting.length).toBe(4);
    for (const { events } of wanting) {
      expect(events.map(({ type }) => type)).toEqual(
        expect.arrayContaining(['agent.message', 'agent.tool_use']),
      );
    }
  });

  it('holds no more than a message between services can hold', async () => {
    await using world = await open({ transport, slots: 8 });
    const text = 'm'.repeat(3 * 1024 * 1024);
    const turns = [1, 2, 3, 4, 5, 6].map((n) => asked(`trn_${n}`, 'x'));
    world.ask(script({ text }), ...turns);
    for (const { turnId } of turns) expect(textOf(await world.ended(turnId))?.length).toBe(text.length);
    expect(world.book.reports.length).toBeGreaterThanOrEqual(3);
  });
});

describe('an outcome', () => {
  it('comes once for each turn', async () => {
    await using world = await open();
    world.ask({}, asked('trn_1', 'one'));
    const journal = await world.ended('trn_1');
    await world.passTime('much time', () => world.book.claims.length > 5, 100);
    expect(journal.outcomes.length).toBe(1);
    expect(outcomeOf(journal)?.$case).toBe('completed');
    expect(world.book.reports.length).toBe(1);
  });
});
