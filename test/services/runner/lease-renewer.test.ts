import { describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { until } from '../../support/wait.ts';
import { type FakeSessions, queuedTurn } from './fake-sessions.ts';
import { dataOf, openTestRunner, script, textOf } from './runner-fixture.ts';

const slow = script({ text: 'a long story '.repeat(60), chunk_chars: 5, delay_ms: 20 });
const failUnavailable = () => {
  throw refuse('DEPENDENCY_UNAVAILABLE', 'the database is unavailable');
};

describe.each(TRANSPORTS)('the lease renewer, %s', (transport) => {
  it('renews all leases in one call before they expire', async () => {
    await using fixture = await openTestRunner({ transport, leaseMs: 3_000 });
    fixture.queueTurns(slow, queuedTurn('trn_1', ''), queuedTurn('trn_2', ''));
    await until('the turns are claimed', () => fixture.sessions.running === 2);
    await fixture.advanceUntil('two renewals', () => fixture.sessions.renewals.length >= 2, 50);
    expect(fixture.clock.now().getTime() - Date.parse('2026-01-01T00:00:00Z')).toBeLessThan(3_000);
    expect(fixture.sessions.renewals[0]?.leases.map(({ turnId }) => turnId)).toEqual(['trn_1', 'trn_2']);
  });

  it('stops a turn whose lease is lost without another report', async () => {
    await using fixture = await openTestRunner({ transport, leaseMs: 3_000 });
    fixture.queueTurns(slow, queuedTurn('trn_1', ''), queuedTurn('trn_2', ''));
    const deltas = (turnId: string) =>
      dataOf(fixture.sessions.journalOf(turnId), 'agent.message_delta').length;
    await fixture.advanceUntil('both turns stream', () => deltas('trn_1') > 0 && deltas('trn_2') > 0);
    fixture.sessions.revokeLease('trn_1');
    await fixture.advanceUntil('a later renewal omits the lost lease', () =>
      fixture.sessions.renewals.some(({ leases }) => leases.length === 1 && leases[0]?.turnId === 'trn_2'),
    );
    const { appended, outcomes } = fixture.sessions.journalOf('trn_1');
    await fixture.advanceUntil(
      'the other turn has ended',
      () => fixture.sessions.journalOf('trn_2').outcomes.length > 0,
      20,
    );
    const last = fixture.sessions.reports.findLast(({ reports }) =>
      reports.some(({ turnId }) => turnId === 'trn_1'),
    );
    expect(fixture.sessions.journalOf('trn_1')).toMatchObject({ appended, outcomes });
    expect(outcomes).toEqual([]);
    expect(last?.reports.find(({ turnId }) => turnId === 'trn_1')?.outcome).toBeUndefined();
  });

  it('frees the slot of an idle turn whose lease is lost', async () => {
    await using fixture = await openTestRunner({ transport, leaseMs: 3_000, slots: 1 });
    fixture.queueTurns(script({ text: 'x', delay_ms: 600_000 }), queuedTurn('trn_1', ''));
    await until('the turn is claimed', () => fixture.sessions.running === 1);
    await fixture.advanceUntil('the lease is renewed', () => fixture.sessions.renewals.length > 0, 50);
    fixture.sessions.revokeLease('trn_1');
    fixture.queueTurns({}, queuedTurn('trn_2', 'next'));
    await fixture.advanceUntil(
      'the other turn has ended',
      () => fixture.sessions.journalOf('trn_2').outcomes.length > 0,
      50,
    );
  });

  it('drops pending reports of a turn whose lease is lost', async () => {
    await using fixture = await openTestRunner({ transport, leaseMs: 3_000 });
    fixture.queueTurns(slow, queuedTurn('trn_1', ''), queuedTurn('trn_2', ''));
    await fixture.advanceUntil(
      'both turns stream',
      () =>
        fixture.sessions.journalOf('trn_1').appended > 0 && fixture.sessions.journalOf('trn_2').appended > 0,
    );
    fixture.sessions.before.report = failUnavailable;
    const tries = fixture.sessions.reports.length;
    await fixture.advanceUntil('a report fails', () => fixture.sessions.reports.length > tries);
    fixture.sessions.revokeLease('trn_1');
    const renewals = fixture.sessions.renewals.length;
    await fixture.advanceUntil(
      'a later renewal omits the lost lease',
      () => fixture.sessions.renewals.length > renewals + 1,
      50,
    );
    const before = fixture.sessions.reports.length;
    fixture.sessions.before.report = undefined;
    await fixture.advanceUntil(
      'further reports are sent',
      () => fixture.sessions.reports.length > before + 2,
    );
    for (const { reports } of fixture.sessions.reports.slice(before)) {
      expect(reports.map(({ turnId }) => turnId)).toEqual(['trn_2']);
    }
  });

  it('leaves a turn out of the next report when its lease is lost during a report', async () => {
    await using fixture = await openTestRunner({ transport, leaseMs: 3_000 });
    fixture.queueTurns(slow, queuedTurn('trn_1', ''), queuedTurn('trn_2', ''));
    await fixture.advanceUntil(
      'both turns stream',
      () =>
        fixture.sessions.journalOf('trn_1').appended > 0 && fixture.sessions.journalOf('trn_2').appended > 0,
    );
    const response = Promise.withResolvers<void>();
    fixture.sessions.before.report = () => response.promise;
    const before = fixture.sessions.reports.length;
    await fixture.advanceUntil('a report is under way', () => fixture.sessions.reports.length > before);
    fixture.sessions.revokeLease('trn_1');
    const renewals = fixture.sessions.renewals.length;
    await fixture.advanceUntil(
      'a later renewal omits the lost lease',
      () => fixture.sessions.renewals.length > renewals + 1,
      20,
    );
    response.resolve();
    await fixture.advanceUntil(
      'further reports are sent',
      () => fixture.sessions.reports.length > before + 3,
    );
    for (const { reports } of fixture.sessions.reports.slice(before + 1)) {
      expect(reports.map(({ turnId }) => turnId)).toEqual(['trn_2']);
    }
  });

  it('stops a turn whose report is refused with LEASE_LOST', async () => {
    await using fixture = await openTestRunner({ transport });
    fixture.queueTurns(slow, queuedTurn('trn_1', ''));
    await fixture.advanceUntil('the turn streams', () => fixture.sessions.journalOf('trn_1').appended > 0);
    fixture.sessions.revokeLease('trn_1');
    const before = fixture.sessions.reports.length;
    await fixture.advanceUntil('the turn reports again', () => fixture.sessions.reports.length > before);
    const after = fixture.sessions.reports.length;
    fixture.sessions.queue({ ...queuedTurn('trn_2', 'next'), agentVersion: fixture.agents.add({}) });
    fixture.context.bus.publish('turns.ready', '');
    await fixture.waitForOutcome('trn_2');
    await fixture.advanceUntil('several more claims', () => fixture.sessions.claims.length > 8, 100);
    expect(fixture.sessions.reports.length).toBe(after + 1);
  });

  it.each([
    ['renewals fail', (fake: FakeSessions) => (fake.before.renew = failUnavailable)],
    ['renewals do not extend them', (fake: FakeSessions) => fake.unextended.add('trn_1')],
  ])('gives up all turns when leases expire because %s', async (_, prevent) => {
    await using fixture = await openTestRunner({ transport, leaseMs: 3_000, slots: 1 });
    prevent(fixture.sessions);
    fixture.sessions.before.report = failUnavailable;
    fixture.queueTurns(slow, queuedTurn('trn_1', ''));
    await until('the turn is claimed', () => fixture.sessions.running === 1);
    const claimedAt = fixture.clock.now().getTime();
    fixture.sessions.before.claim = () => {
      expect(fixture.clock.now().getTime()).toBeGreaterThanOrEqual(claimedAt + 3_000);
    };
    // The only slot is free again, so the runner claims another turn.
    const claims = fixture.sessions.claims.length;
    await fixture.advanceUntil('the runner claims again', () => fixture.sessions.claims.length > claims, 100);
    expect(fixture.clock.now().getTime()).toBeLessThanOrEqual(claimedAt + 3_500);
    expect(fixture.sessions.journalOf('trn_1').appended).toBe(0);
  });
});

describe('a turn that the same runner claims again', () => {
  it('runs under the new fence and drops the old lease', async () => {
    await using fixture = await openTestRunner();
    fixture.queueTurns(slow, queuedTurn('trn_1', ''));
    await fixture.advanceUntil('the turn streams', () => fixture.sessions.journalOf('trn_1').appended > 0);
    fixture.queueTurns({}, queuedTurn('trn_1', 'again'));
    const journal = await fixture.waitForOutcome('trn_1');
    expect(textOf(journal)).toBe('again');
    expect(fixture.sessions.running).toBe(0);
  });
});
