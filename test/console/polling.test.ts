import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { pollInterval } from '../../console/api/polling.ts';

const RECENT_MS = 10_000;
const INTERVALS = { active: 3_000, idle: 15_000, recent: RECENT_MS };

describe('pollInterval', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** A query with its current data. */
  const queryWith = (data: string | undefined) => ({ state: { data } });
  const intervalOf = (query: { state: { data: string | undefined } }) =>
    pollInterval(query, INTERVALS, (data) => data === 'busy');

  it('is short until data has arrived and while the data shows unfinished work', () => {
    expect(intervalOf(queryWith(undefined))).toBe(INTERVALS.active);
    expect(intervalOf(queryWith('busy'))).toBe(INTERVALS.active);
  });

  it('is long for the first data without unfinished work', () => {
    const query = queryWith('done');
    expect(intervalOf(query)).toBe(INTERVALS.idle);
    vi.advanceTimersByTime(RECENT_MS);
    expect(intervalOf(query)).toBe(INTERVALS.idle);
  });

  it('is short for a while after a change', () => {
    const query = queryWith('done');
    intervalOf(query);
    query.state.data = 'done again';
    expect(intervalOf(query)).toBe(INTERVALS.active);
    vi.advanceTimersByTime(RECENT_MS - 1);
    expect(intervalOf(query)).toBe(INTERVALS.active);
    vi.advanceTimersByTime(1);
    expect(intervalOf(query)).toBe(INTERVALS.idle);
  });

  it('tells the age of the data', () => {
    const query = queryWith('done');
    const ages: number[] = [];
    const observe = () =>
      pollInterval(query, INTERVALS, (_, ageMs) => {
        ages.push(ageMs);
        return false;
      });
    observe();
    vi.advanceTimersByTime(RECENT_MS);
    observe();
    expect(ages).toEqual([0, RECENT_MS]);
  });
});
