import { describe, expect, it } from 'vitest';
import { readRequests, requestsJson } from '../../../services/sessions/store/turn-requests.ts';
import { callWithApproval } from './domain/states.ts';

const approval = { approvalId: 'apr_9', eventId: 'evt_9' };

describe('the stored requests of a turn', () => {
  it.each([
    ['no calls', { calls: [], approval: null }],
    ['calls', { calls: [callWithApproval('1'), callWithApproval('2', 'deny')], approval: null }],
    ['an approval of its own', { calls: [], approval }],
    ['both', { calls: [callWithApproval('1')], approval }],
  ])('are read as they were written with %s', (_, requests) => {
    expect(readRequests(requestsJson(requests))).toEqual(requests);
  });

  it('take no space without calls and approval', () => {
    expect(requestsJson({ calls: [], approval: null })).toBeNull();
  });

  it('have no approval that an earlier release has decided as that of a call', () => {
    const stored = JSON.parse(requestsJson({ calls: [], approval }) ?? '');
    stored[0].approval.decision = 'retry';
    expect(readRequests(JSON.stringify(stored))).toEqual({ calls: [], approval: null });
  });
});
