import { describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { until } from '../../support/wait.ts';
import { dataOf, open, script, textOf } from './open.ts';
import { asked } from './sessions.ts';

const slow = script({ text: 'a long story '.repeat(60), chunk_chars: 5, delay_ms: 20 });
const isAway = () => {
  throw refuse('DEPENDENCY_UNAVAILABLE', 'the database is away');
};

describe.each(TRANSPORTS)('the leases of a runner, %s', (transport) => {
  it('are renewed together, well before they end', async () => {
    await using world = await open({ transport, leaseMs: 3_000 });
    world.ask(slow, asked('trn_1', ''), asked('trn_2', ''));
    await world.passTime('two renewals', () => world.book.renewals.length >= 2, 50);
    expect(world.clock.now().getTime() - Date.parse('2026-01-01T00:00:00Z')).toBeLessThan(3_000);
    expect(world.book.renewals[0]?.leases.map(({ turnId }) => turnId)).toEqual(['trn_1', 'trn_2']);
  });

  it('when one is lost, the turn stops without another word', async () => {
    await using world = await open({ transport, leaseMs: 3_000 });
    world.ask(slow, asked('trn_1', ''), asked('trn_2', ''));
    const deltas = (turnId: string) => dataOf(world.book.of(turnId), 'agent.message_delta').length;
    await world.passTime('both speak', () => deltas('trn_1') > 0 && deltas('trn_2') > 0);
    world.book.takeAway('trn_1');
    await world.passTime('it hears of it', () =>
      world.book.renewals.some(({ leases }) => leases.length === 1 && leases[0]?.turnId === 'trn_2'),
    );
    const { appended, outcomes } = world.book.of('trn_1');
    await world.passTime('the other one is done', () => world.book.of('trn_2').outcomes.length > 0, 20);
    const last = world.book.reports.findLast(({ reports }) =>
      reports.some(({ turnId }) => turnId === 'trn_1'),
    );
    expect(world.book.of('trn_1')).toMatchObject({ appended, outcomes });
    expect(outcomes).toEqual([]);
    expect(last?.reports.find(({ turnId }) => turnId === 'trn_1')?.outcome).toBeUndefined();
  });

  it('when a silent turn loses its lease, its slot is free for another', async () => {
    await using world = await open({ transport, leaseMs: 3_000, slots: 1 });
    world.ask(script({ text: 'x', delay_ms: 600_000 }), asked('trn_1', ''));
    await until('it is claimed', () => world.book.running === 1);
    await world.passTime('it is renewed', () => world.book.renewals.length > 0, 50);
    world.book.takeAway('trn_1');
    world.ask({}, asked('trn_2', 'next'));
    await world.passTime('the other one is done', () => world.book.of('trn_2').outcomes.length > 0, 50);
  });

  it('when one is lost while reports wait, they are dropped', async () => {
    await using world = await open({ transport, leaseMs: 3_000 });
    world.ask(slow, asked('trn_1', ''), asked('trn_2', ''));
    await world.passTime(
      'both speak',
      () => world.book.of('trn_1').appended > 0 && world.book.of('trn_2').appended > 0,
    );
    world.book.before.report = isAway;
    const tries = world.book.reports.length;
    await world.passTime('reports wait', () => world.book.reports.length > tries);
    world.book.takeAway('trn_1');
    const renewals = world.book.renewals.length;
    await world.passTime('it hears of it', () => world.book.renewals.length > renewals + 1, 50);
    const before = world.book.reports.length;
    world.book.before.report = undefined;
    await world.passTime('reports go on', () => world.book.reports.length > before + 2);
    for (const { reports } of world.book.reports.slice(before)) {
      expect(reports.map(({ turnId }) => turnId)).toEqual(['trn_2']);
    }
  });

  it('when one is lost while a report is under way, the next one leaves it out', async () => {
    await using world = await open({ transport, leaseMs: 3_000 });
    world.ask(slow, asked('trn_1', ''), asked('trn_2', ''));
    await world.passTime(
      'both speak',
      () => world.book.of('trn_1').appended > 0 && world.book.of('trn_2').appended > 0,
    );
    const underWay = Promise.withResolvers<void>();
    world.book.before.report = () => underWay.promise;
    const before = world.book.reports.length;
    await world.passTime('a report is under way', () => world.book.reports.length > before);
    world.book.takeAway('trn_1');
    const renewals = world.book.renewals.length;
    await world.passTime('it hears of it', () => world.book.renewals.length > renewals + 1, 20);
    underWay.resolve();
    await world.passTime('reports go on', () => world.book.reports.length > before + 3);
    for (const { reports } of world.book.reports.slice(before + 1)) {
      expect(reports.map(({ turnId }) => turnId)).toEqual(['trn_2']);
    }
  });

  it('when a report is refused, the turn stops at once', async () => {
    await using world = await open({ transport });
    world.ask(slow, asked('trn_1', ''));
    await world.passTime('it speaks', () => world.book.of('trn_1').appended > 0);
    world.book.takeAway('trn_1');
    const before = world.book.reports.length;
    await world.passTime('it reports again', () => world.book.reports.length > before);
    const after = world.book.reports.length;
    world.book.queue({ ...asked('trn_2', 'next'), agentVersion: world.agents.add({}) });
    world.context.bus.publish('turns.ready', '');
    await world.ended('trn_2');
    await world.passTime('much time', () => world.book.claims.length > 8, 100);
    expect(world.book.reports.length).toBe(after + 1);
  });

  it('when they cannot be renewed, the runner gives its turns up by itself', async () => {
    await using world = await open({ transport, leaseMs: 3_000, slots: 1 });
    world.book.before.renew = isAway;
    world.book.before.report = isAway;
    world.ask(slow, asked('trn_1', ''));
    await until('it is claimed', () => world.book.running === 1);
    const claimedAt = world.clock.now().getTime();
    world.book.before.claim = () => {
      expect(world.clock.now().getTime()).toBeGreaterThanOrEqual(claimedAt + 3_000);
    };
    // The one slot is free again: it asks for more.
    const claims = world.book.claims.length;
    await world.passTime('it claims again', () => world.book.claims.length > claims, 100);
    expect(world.clock.now().getTime()).toBeLessThanOrEqual(claimedAt + 3_500);
    expect(world.book.of('trn_1').appended).toBe(0);
  });
});

describe('a turn that comes back to the same runner', () => {
  it('is run under its new fence, and the old one is forgotten', async () => {
    await using world = await open();
    world.ask(slow, asked('trn_1', ''));
    await world.passTime('it speaks', () => world.book.of('trn_1').appended > 0);
    world.ask({}, asked('trn_1', 'again'));
    const journal = await world.ended('trn_1');
    expect(textOf(journal)).toBe('again');
    expect(world.book.running).toBe(0);
  });
});
