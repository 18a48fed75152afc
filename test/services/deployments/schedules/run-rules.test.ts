import { describe, expect, it } from 'vitest';
import { jitterMs } from '../../../../services/deployments/domain/schedules/jitter.ts';
import { countFailure, type RunEvent } from '../../../../services/deployments/domain/schedules/pause.ts';
import { isFinal, runStateOf } from '../../../../services/deployments/domain/schedules/run-state.ts';

describe('the state of a run', () => {
  it.each([
    ['queued', '', 'running', null],
    ['in_progress', '', 'running', null],
    ['blocked', '{"type":"requires_action","kind":"tool"}', 'waiting', null],
    ['completed', '{"type":"end_turn"}', 'succeeded', null],
    ['completed', '{"type":"max_steps_reached"}', 'failed', 'max_steps_reached'],
    ['completed', '{"type":"refused"}', 'failed', 'refused'],
    ['failed', '{"type":"retries_exhausted"}', 'failed', 'retries_exhausted'],
    ['failed', '', 'failed', 'failed'],
    ['interrupted', '{"type":"interrupted"}', 'interrupted', null],
    ['cancelled', '', 'cancelled', 'turn_cancelled'],
  ])('of a turn that is %s with the stop reason %s is %s', (status, stopReasonJson, expected, reason) => {
    expect(runStateOf({ status, stopReasonJson })).toEqual({ status: expected, reason });
  });

  it('changes only while it is queued, running or waiting', () => {
    const statuses = [
      'queued',
      'running',
      'waiting',
      'succeeded',
      'failed',
      'interrupted',
      'cancelled',
      'skipped',
      'missed',
    ] as const;
    expect(statuses.filter((status) => !isFinal(status))).toEqual(['queued', 'running', 'waiting']);
  });
});

describe('the pause of a schedule', () => {
  /** Returns the failures in a row after each event, with ! for a pause. */
  function counts(pauseAfterFailures: number, countFailedTurns: boolean, events: RunEvent[]): string[] {
    let failures = 0;
    return events.map((event) => {
      const counted = countFailure({ pauseAfterFailures, countFailedTurns }, failures, event);
      failures = counted.failures;
      return `${failures}${counted.pauses ? '!' : ''}`;
    });
  }

  it('follows runs in a row that could not start', () => {
    expect(
      counts(3, false, ['cannot_start', 'cannot_start', 'started', 'turn_failed', 'cannot_start']),
    ).toEqual(['1', '2', '0', '0', '1']);
    expect(counts(2, false, ['cannot_start', 'cannot_start'])).toEqual(['1', '2!']);
  });

  it('counts failed turns when set, until a turn succeeds', () => {
    expect(
      counts(3, true, ['started', 'turn_failed', 'cannot_start', 'started', 'turn_failed', 'turn_succeeded']),
    ).toEqual(['0', '1', '2', '2', '3!', '0']);
  });

  it('never comes with 0', () => {
    expect(counts(0, true, ['cannot_start', 'turn_failed'])).toEqual(['1', '2']);
  });
});

describe('jitter', () => {
  const time = new Date('2026-01-01T00:00:00Z');

  it('is the same for the same deployment and time', () => {
    expect(jitterMs('dep_1', time, 600)).toBe(jitterMs('dep_1', new Date(time), 600));
    expect(jitterMs('dep_1', time, 0)).toBe(0);
  });

  it('spreads deployments over whole seconds below the limit', () => {
    const delays = Array.from({ length: 2_000 }, (_, index) => jitterMs(`dep_${index}`, time, 10));
    expect([...new Set(delays)].sort((one, other) => one - other)).toEqual(
      Array.from({ length: 10 }, (_, second) => second * 1000),
    );
  });
});
