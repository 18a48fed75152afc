import { describe, expect, it } from 'vitest';
import { reclaim, retry } from '../../../../services/sessions/domain/finish.ts';
import { dataOf, LIMITS, NOW, sessionState, turnState, typesOf } from './states.ts';

const error = { code: 'model_overloaded', message: 'busy' };
const MAX_BACKOFF_MS = 60_000;

function retryAfter(failures: number, delayMs = 0, maxFailures = LIMITS.maxFailures) {
  const turn = turnState({ failures });
  const state = sessionState({ current: turn });
  return retry(state, turn, { error, delayMs }, { ...LIMITS, maxFailures }, NOW);
}

const waitOf = (change: ReturnType<typeof retry>) =>
  (change.turns[0]?.wakeAt?.getTime() ?? 0) - NOW.getTime();

describe('retry', () => {
  it.each([0, 1])('puts the turn to sleep after %i earlier failures of at most 2', (failures) => {
    const change = retryAfter(failures);
    expect(change.turns).toMatchObject([
      { status: 'queued', ready: false, failures: failures + 1, runnerId: null, leaseUntil: null },
    ]);
    expect(change.head).toMatchObject({
      status: 'rescheduling',
      currentTurnId: null,
      queuedTurns: 1,
      fence: 5,
    });
    expect(typesOf(change)).toEqual(['session.error', 'session.status_rescheduled']);
    const { next_attempt_at: nextAttemptAt, ...data } = dataOf(change, 'session.error');
    expect(data).toEqual({ error, retry_status: 'retrying' });
    expect(nextAttemptAt).toBe(change.turns[0]?.wakeAt?.toISOString());
  });

  it('fails the turn with retries_exhausted when its retries are spent', () => {
    const change = retryAfter(2);
    expect(change.turns).toMatchObject([
      { status: 'failed', errorJson: JSON.stringify(error), finishedAt: NOW },
    ]);
    expect(change.head).toMatchObject({ status: 'idle', stopReason: { type: 'retries_exhausted' } });
    expect(dataOf(change, 'session.error')).toEqual({ error, retry_status: 'exhausted' });
  });

  it('continues at once with the fallback model and all retries when the retries are spent', () => {
    const turn = turnState({ failures: 2, attempt: 4, lastProgressAttempt: 1 });
    const state = sessionState({ current: turn });
    const change = retry(state, turn, { error, delayMs: 5_000, fallbackModel: 'a/b' }, LIMITS, NOW);
    expect(change.turns).toMatchObject([
      {
        status: 'queued',
        ready: true,
        wakeAt: null,
        failures: 0,
        lastProgressAttempt: 4,
        fallbackModel: 'a/b',
      },
    ]);
    expect(change.head).toMatchObject({ status: 'rescheduling', currentTurnId: null, queuedTurns: 1 });
    expect(typesOf(change)).toEqual(['session.error', 'session.status_rescheduled']);
    expect(dataOf(change, 'session.error')).toEqual({
      error,
      retry_status: 'retrying',
      next_attempt_at: NOW.toISOString(),
    });
  });

  it('keeps the model while retries are left', () => {
    const turn = turnState({ failures: 1 });
    const state = sessionState({ current: turn });
    const change = retry(state, turn, { error, delayMs: 0, fallbackModel: 'a/b' }, LIMITS, NOW);
    expect(change.turns).toMatchObject([{ failures: 2, ready: false, fallbackModel: null }]);
  });

  it('waits at least as long as the provider asks', () => {
    expect(waitOf(retryAfter(0, 5_000))).toBeGreaterThanOrEqual(5_000);
  });

  it.each([0, 1, 5, 10, 50])('waits for a bounded backoff after %i earlier failures', (failures) => {
    const wait = waitOf(retryAfter(failures, 0, 100));
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(MAX_BACKOFF_MS * 1.5);
  });

  it('discards the unfinished message', () => {
    const turn = turnState({ openMessageId: 'msg_1' });
    const change = retry(sessionState({ current: turn }), turn, { error, delayMs: 0 }, LIMITS, NOW);
    expect(typesOf(change)[0]).toBe('agent.message_discarded');
    expect(change.turns[0]?.openMessageId).toBeNull();
  });
});

describe('reclaim', () => {
  it.each([
    { attempt: 1, lastProgressAttempt: 0, isFailed: false },
    { attempt: 2, lastProgressAttempt: 0, isFailed: false },
    { attempt: 3, lastProgressAttempt: 0, isFailed: true },
    { attempt: 3, lastProgressAttempt: 1, isFailed: false },
    { attempt: 50, lastProgressAttempt: 48, isFailed: false },
    { attempt: 50, lastProgressAttempt: 47, isFailed: true },
  ])('with attempt $attempt and progress in $lastProgressAttempt fails the turn: $isFailed', (row) => {
    const { isFailed, ...attempts } = row;
    const turn = turnState(attempts);
    const change = reclaim(sessionState({ current: turn }), turn, 'lease_lost', LIMITS, NOW);
    if (isFailed) {
      expect(change.turns).toMatchObject([{ status: 'failed' }]);
      expect(change.head.stopReason).toEqual({ type: 'retries_exhausted' });
      expect(dataOf(change, 'turn.failed').error.code).toBe('attempts_exhausted');
    } else {
      expect(change.turns).toMatchObject([{ status: 'queued', ready: true, failures: 0, leaseUntil: null }]);
      expect(dataOf(change, 'session.status_rescheduled').reason).toBe('lease_lost');
    }
  });
});
