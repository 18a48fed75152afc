import { describe, expect, it } from 'vitest';
import {
  NEW_POST,
  type PostReport,
  reportPost,
  resendPost,
} from '../../../../services/deployments/domain/channels/post-state.ts';

const START = new Date('2026-01-01T00:00:00Z');
const DAY_MS = 24 * 3_600_000;
const STATES = ['posting', 'posted', 'wanted', 'failed'] as const;

function report(changes: Partial<PostReport> = {}): PostReport {
  return {
    ...{ state: 'posting', externalId: '', shownSha256: '', maybeDuplicate: false, error: '' },
    nextAt: undefined,
    ...changes,
  };
}

describe('reportPost', () => {
  const at = (ms: number) => new Date(START.getTime() + ms);

  it('is the same for a repeated report, from every state', () => {
    for (const first of STATES)
      for (const state of STATES)
        for (const error of ['', 'refused']) {
          const current = reportPost(
            NEW_POST,
            report({ state: first, shownSha256: 'aa', externalId: 'M1' }),
            START,
          );
          const repeated = report({
            state,
            error,
            shownSha256: 'bb',
            nextAt: error ? at(5_000) : undefined,
          });
          const once = reportPost(current, repeated, at(1_000));
          expect(reportPost(once, repeated, at(2_000))).toEqual(once);
        }
  });

  it('counts the 24 hours from the first attempt since the post was last posted', () => {
    const failing = report({ state: 'wanted', error: 'unavailable' });
    const posted = reportPost(reportPost(NEW_POST, report(), START), report({ state: 'posted' }), START);
    const later = reportPost(posted, report(), at(3 * DAY_MS));
    expect(reportPost(later, failing, at(4 * DAY_MS - 1)).state).toBe('wanted');
    expect(reportPost(later, failing, at(4 * DAY_MS)).state).toBe('dead');
    const ambiguous = report({ state: 'posting', error: 'no answer' });
    expect(reportPost(later, ambiguous, at(4 * DAY_MS)).state).toBe('dead');
  });

  it('keeps the id at the product and that the post may exist twice', () => {
    const posted = reportPost(
      NEW_POST,
      report({ state: 'posted', externalId: 'M1', maybeDuplicate: true }),
      START,
    );
    expect(reportPost(posted, report({ state: 'posted' }), START)).toMatchObject({
      externalId: 'M1',
      maybeDuplicate: true,
    });
  });
});

describe('resendPost', () => {
  it('changes failed and dead posts alone', () => {
    for (const state of [...STATES, 'dead'] as const) {
      const current = { ...NEW_POST, state, attempts: 3, error: 'unavailable', tryingSince: START };
      const resent = { ...NEW_POST, state: 'wanted' };
      expect(resendPost(current)).toEqual(['failed', 'dead'].includes(state) ? resent : current);
    }
  });
});
