import { describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import { until } from '../../support/wait.ts';
import { queuedTurn } from './fake-sessions.ts';
import { calling, createRecordingTool, pendingAnswer } from './recording-tool.ts';
import { dataOf, openTestRunner, script, textOf } from './runner-fixture.ts';

const numbered = (count: number, text = 'x') =>
  Array.from({ length: count }, (_, n) => queuedTurn(`trn_${n}`, text));
const forever = script({ text: 'x', delay_ms: 600_000 });

describe('the turn claimer', () => {
  it('claims all queued turns and never more than its slots', async () => {
    await using fixture = await openTestRunner({ slots: 7 });
    const turns = numbered(100);
    fixture.queueTurns({}, ...turns);
    for (const { turnId } of turns) await fixture.waitForOutcome(turnId);
    expect(fixture.sessions.mostRunning).toBeLessThanOrEqual(7);
    for (const { slots } of fixture.sessions.claims) expect(slots).toBeLessThanOrEqual(7);
    expect(fixture.clock.now()).toEqual(new Date('2026-01-01T00:00:00.000Z'));
  });

  it('claims again after a hint that arrives during a claim', async () => {
    await using fixture = await openTestRunner();
    await until('the first claim is sent', () => fixture.sessions.claims.length === 1);
    // The response to this claim is created before the turn is queued, and arrives after the hint.
    fixture.sessions.after.claim = () => {
      fixture.sessions.after.claim = undefined;
      fixture.queueTurns({}, queuedTurn('trn_late', 'late'));
    };
    fixture.context.bus.publish('turns.ready', '');
    expect(textOf(await fixture.waitForOutcome('trn_late'))).toBe('late');
  });

  it('claims after a slot becomes free when a hint arrived before', async () => {
    const count = createRecordingTool();
    const waiting = pendingAnswer();
    count.answer = waiting.answer;
    await using fixture = await openTestRunner({ slots: 1, tools: [count.tool] });
    fixture.queueTurns(calling('a'), queuedTurn('trn_1', ''));
    await until('the only slot is taken', () => count.runs.length === 1);
    fixture.queueTurns({}, queuedTurn('trn_2', 'second'));
    waiting.release();
    // The clock does not advance, so there is no poll.
    expect(textOf(await fixture.waitForOutcome('trn_2'))).toBe('second');
  });

  it('polls without a hint', async () => {
    await using fixture = await openTestRunner();
    await until('the first claim is sent', () => fixture.sessions.claims.length === 1);
    fixture.sessions.queue({ ...queuedTurn('trn_1', 'quiet'), agentVersion: fixture.agents.add({}) });
    fixture.clock.advance(500);
    expect(textOf(await fixture.waitForOutcome('trn_1'))).toBe('quiet');
  });

  it('runs one claim at a time regardless of the number of hints', async () => {
    await using fixture = await openTestRunner({ slots: 50 });
    let concurrentClaims = 0;
    let mostClaims = 0;
    fixture.sessions.before.claim = async () => {
      mostClaims = Math.max(mostClaims, ++concurrentClaims);
      await new Promise((resolve) => setImmediate(resolve));
      concurrentClaims--;
    };
    const turns = numbered(200);
    for (const turn of turns) fixture.queueTurns({}, turn);
    for (const { turnId } of turns) await fixture.waitForOutcome(turnId);
    expect(mostClaims).toBe(1);
  });

  it('retries failed claims with backoff and fails its health check meanwhile', async () => {
    await using fixture = await openTestRunner();
    let isUnavailable = true;
    fixture.sessions.before.claim = () => {
      if (isUnavailable) throw refuse('DEPENDENCY_UNAVAILABLE', 'the database is unavailable');
    };
    fixture.queueTurns({}, queuedTurn('trn_1', 'patient'));
    await fixture.advanceUntil('several attempts', () => fixture.sessions.claims.length > 4, 50);
    // Four pauses with bounds of 100, 200, 400 and 800 ms; jitter leaves at least half of each.
    expect(fixture.clock.now().getTime()).toBeGreaterThanOrEqual(Date.parse('2026-01-01T00:00:00.750Z'));
    await expect(fixture.runner.check?.()).rejects.toThrow('cannot be claimed');
    isUnavailable = false;
    await fixture.advanceUntil(
      'the turn has ended',
      () => fixture.sessions.journalOf('trn_1').outcomes.length > 0,
      50,
    );
    await fixture.runner.check?.();
  });
});

describe('a waiting claim', () => {
  it('waits in one call for turns, without polls', async () => {
    await using fixture = await openTestRunner({ claimsWait: true });
    await until('a claim waits', () => fixture.sessions.claims.length === 1);
    fixture.clock.advance(5_000);
    fixture.queueTurns({}, queuedTurn('trn_1', 'patient'));
    expect(textOf(await fixture.waitForOutcome('trn_1'))).toBe('patient');
    expect(fixture.sessions.claims[0]).toMatchObject({ waitMs: 20_000 });
    await until('the next claim waits', () => fixture.sessions.claims.length === 2);
  });

  it('gives its turns a lease that began when the wait ended', async () => {
    await using fixture = await openTestRunner({ claimsWait: true, leaseMs: 15_000 });
    await until('a claim waits', () => fixture.sessions.claims.length === 1);
    fixture.clock.advance(18_000);
    fixture.queueTurns(forever, queuedTurn('trn_1', ''));
    await until('the turn is claimed', () => fixture.sessions.running === 1);
    await fixture.advanceUntil('the lease is renewed', () => fixture.sessions.renewals.length > 0, 100);
    expect(fixture.sessions.renewals[0]?.leases).toMatchObject([{ turnId: 'trn_1' }]);
  });

  it('follows at once when the time to wait has passed', async () => {
    await using fixture = await openTestRunner({ claimsWait: true });
    await until('a claim waits', () => fixture.sessions.claims.length === 1);
    fixture.clock.advance(20_000);
    await until('the next claim waits', () => fixture.sessions.claims.length === 2);
  });

  it('does not wait after a failure, so that the health check recovers soon', async () => {
    await using fixture = await openTestRunner({ claimsWait: true });
    let isUnavailable = true;
    fixture.sessions.before.claim = () => {
      if (isUnavailable) throw refuse('DEPENDENCY_UNAVAILABLE', 'the database is unavailable');
    };
    await fixture.advanceUntil('a claim has failed', () => fixture.sessions.claims.length > 2, 50);
    await expect(fixture.runner.check?.()).rejects.toThrow('cannot be claimed');
    isUnavailable = false;
    const failed = fixture.sessions.claims.length;
    await fixture.advanceUntil('a claim has succeeded', () => fixture.sessions.claims.length > failed, 50);
    expect(fixture.sessions.claims[failed]).toMatchObject({ waitMs: 0 });
    await fixture.advanceUntil('the next claim waits', () => fixture.sessions.claims.length > failed + 1, 50);
    await fixture.runner.check?.();
  });

  it('is ended by a draining runner, which handles a simultaneous answer', async () => {
    await using fixture = await openTestRunner({ claimsWait: true, drainMs: 0 });
    await until('a claim waits', () => fixture.sessions.claims.length === 1);
    fixture.sessions.queue({ ...queuedTurn('trn_1', ''), agentVersion: fixture.agents.add(forever) });
    const draining = fixture.runner.drain?.();
    fixture.clock.advance(1);
    await draining;
    expect(fixture.sessions.journalOf('trn_1').outcomes).toMatchObject([{ kind: { $case: 'retry' } }]);
    expect(fixture.sessions.claims.length).toBe(1);
  });
});

describe('draining a runner', () => {
  it('lets turns finish within the drain time', async () => {
    await using fixture = await openTestRunner({ drainMs: 1_000 });
    fixture.queueTurns(script({ text: 'nearly', chunk_chars: 1, delay_ms: 100 }), queuedTurn('trn_1', ''));
    // The drain time begins when the model has begun to answer.
    await fixture.advanceUntil(
      'the turn streams',
      () => dataOf(fixture.sessions.journalOf('trn_1'), 'agent.message_delta').length > 0,
    );
    const draining = fixture.runner.drain?.();
    await fixture.advanceUntil('the turn has ended', () => fixture.sessions.running === 0, 50);
    await draining;
    expect(textOf(fixture.sessions.journalOf('trn_1'))).toBe('nearly');
  });

  it('requeues the other turns for another runner', async () => {
    await using fixture = await openTestRunner({ drainMs: 1_000 });
    const long = script({ text: 'a long story '.repeat(500), chunk_chars: 5, delay_ms: 20 });
    fixture.queueTurns(long, ...numbered(3));
    await fixture.advanceUntil('all turns stream', () =>
      numbered(3).every(({ turnId }) => fixture.sessions.journalOf(turnId).appended > 1),
    );
    const draining = fixture.runner.drain?.();
    await fixture.advanceUntil('all turns are requeued', () => fixture.sessions.running === 0, 50);
    await draining;
    for (const { turnId } of numbered(3)) {
      const { outcomes, events, openMessageId } = fixture.sessions.journalOf(turnId);
      expect(outcomes).toMatchObject([
        { kind: { $case: 'retry', value: { error: { code: 'runner_stopping' }, delayMs: 1 } } },
      ]);
      expect(events.at(-2)).toMatchObject({
        type: 'agent.message_discarded',
        data: { reason: 'runner_stopping' },
      });
      expect(openMessageId).toBe('');
    }
  });

  it('starts no claim and requeues the turns of a claim in flight', async () => {
    await using fixture = await openTestRunner({ drainMs: 0 });
    await until('the first claim is sent', () => fixture.sessions.claims.length === 1);
    const answer = Promise.withResolvers<void>();
    fixture.sessions.before.claim = () => answer.promise;
    fixture.queueTurns(forever, queuedTurn('trn_1', ''));
    await until('the second claim is sent', () => fixture.sessions.claims.length === 2);
    const draining = fixture.runner.drain?.();
    fixture.clock.advance(1);
    answer.resolve();
    await draining;
    expect(fixture.sessions.journalOf('trn_1').outcomes).toMatchObject([{ kind: { $case: 'retry' } }]);
    fixture.queueTurns({}, queuedTurn('trn_2', ''));
    fixture.clock.advance(5_000);
    expect(fixture.sessions.claims.length).toBe(2);
  });
});
