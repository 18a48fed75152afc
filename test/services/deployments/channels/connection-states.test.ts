import { describe, expect, it } from 'vitest';
import {
  applyReport,
  type Connection,
  type ConnectionReport,
  connectAgain,
  disconnect,
  REMOVAL_MS,
  removalEnded,
  requireLease,
  shownState,
} from '../../../../services/deployments/domain/channels/connection.ts';

const NOW = new Date('2026-05-01T12:00:00Z');
const later = (ms: number) => new Date(NOW.getTime() + ms);
const FACTS: Parameters<typeof connectAgain>[1] = {
  ...{ deploymentId: 'dep_1', ownerId: 'usr_1', revision: 3, missingCredentials: [] },
  provider: 'slack',
  mode: 'socket',
};

const connecting = connectAgain(undefined, FACTS, false, NOW);
const leased: Connection = { ...connecting, fence: 5, holder: 'wrk_1', leaseUntil: later(30_000) };
const report = (more: Partial<ConnectionReport>): ConnectionReport => ({
  ...{ state: 'connected', error: '', sealedResume: undefined },
  ...more,
});
const apply = (before: Connection, more: Partial<ConnectionReport>) =>
  applyReport(before, report(more), later(1_000));

describe('states of a connection', () => {
  it('begin with a connection that a worker can claim', () => {
    expect(connecting).toMatchObject({ wanted: 'connect', state: 'connecting', readyAt: NOW, fence: 1 });
  });

  it('need no worker when posts are pulled', () => {
    const pulled = connectAgain(undefined, { ...FACTS, provider: 'http', mode: 'pull' }, false, NOW);
    expect(pulled).toMatchObject({ wanted: 'nothing', state: 'connected', readyAt: null });
  });

  it('fail without the credentials of the mode', () => {
    const missing = connectAgain(undefined, { ...FACTS, missingCredentials: ['app_token'] }, false, NOW);
    expect(missing).toMatchObject({ wanted: 'nothing', state: 'failed', readyAt: null });
    expect(missing.lastError).toContain('app_token');
  });

  it('take the lease from the worker when the channel is changed', () => {
    const held = { ...leased, sealedResume: 'sealed', lastError: 'lost' };
    const again = connectAgain(held, FACTS, true, NOW);
    expect(again).toMatchObject({ holder: null, leaseUntil: null, fence: 6, lastError: null });
    expect(again.sealedResume).toBe('sealed');
    expect(connectAgain(held, FACTS, false, NOW).sealedResume).toBeNull();
    expect(() => requireLease(again, 5)).toThrow(expect.objectContaining({ code: 'LEASE_LOST' }));
  });

  it('keep the lease of a connected socket', () => {
    const connected = apply({ ...leased, lastError: 'lost' }, { sealedResume: 'sealed' });
    expect(connected).toMatchObject({ state: 'connected', holder: 'wrk_1', lastError: null });
    expect(connected).toMatchObject({ since: later(1_000), sealedResume: 'sealed' });
    expect(apply(connected, {}).since).toEqual(connected.since);
    expect(apply(connected, {}).sealedResume).toBe('sealed');
  });

  it('end the lease of a registered webhook', () => {
    const registered = apply({ ...leased, mode: 'http' }, {});
    expect(registered).toMatchObject({ state: 'connected', holder: null, leaseUntil: null, readyAt: null });
  });

  it('end with a failure until the channel is changed', () => {
    const failed = apply(leased, { state: 'failed', error: 'invalid_auth' });
    expect(failed).toMatchObject({ state: 'failed', holder: null, readyAt: null, lastError: 'invalid_auth' });
    expect(apply(leased, { state: 'failed' }).lastError).not.toBeNull();
  });

  it('keep the lease of a worker that tries again', () => {
    const lost = apply({ ...leased, state: 'connected' }, { state: 'connecting', error: 'reset' });
    expect(lost).toMatchObject({ state: 'connecting', holder: 'wrk_1', lastError: 'reset' });
    expect(lost.since).toEqual(later(1_000));
    expect(apply(lost, {})).toMatchObject({ state: 'connected', lastError: null });
  });

  it('cut long errors', () => {
    expect(apply(leased, { state: 'failed', error: 'x'.repeat(5_000) }).lastError).toHaveLength(1_000);
  });

  it('show a lost worker as connecting', () => {
    const connected: Connection = { ...leased, state: 'connected' };
    expect(shownState(connected, NOW)).toBe('connected');
    expect(shownState(connected, later(30_000))).toBe('connecting');
    expect(shownState({ ...connected, mode: 'http', leaseUntil: null }, NOW)).toBe('connected');
    expect(shownState({ ...connected, mode: 'pull', leaseUntil: null }, NOW)).toBe('connected');
  });
});

describe('removal of a channel from its product', () => {
  const removing = disconnect(leased, 'credentials', NOW);

  it('begins with the credentials of the channel and lasts 24 hours', () => {
    expect(removing).toMatchObject({
      ...{ wanted: 'remove', state: 'off', holder: null, fence: 6, readyAt: NOW, sealedResume: null },
      ...{ sealedCredentials: 'credentials', removeUntil: later(REMOVAL_MS), lastError: null },
    });
    expect(REMOVAL_MS).toBe(24 * 60 * 60 * 1000);
  });

  it('goes on when a disabled channel is deleted', () => {
    expect(disconnect(removing, 'other credentials', later(1))).toBe(removing);
  });

  it('is not needed for a channel that was never connected', () => {
    const pulled = connectAgain(undefined, { ...FACTS, mode: 'pull' }, false, NOW);
    expect(disconnect(pulled, 'credentials', NOW)).toMatchObject({
      ...{ wanted: 'nothing', state: 'off', readyAt: null, sealedCredentials: null },
    });
  });

  it.each(['removed', 'failed'] as const)('ends when a worker reports %s', (state) => {
    const ended = apply({ ...removing, holder: 'wrk_1' }, { state, error: 'token revoked' });
    expect(ended).toMatchObject({
      ...{ wanted: 'nothing', state: 'off', readyAt: null, holder: null },
      ...{ sealedCredentials: null, removeUntil: null },
    });
  });

  it('keeps the lease of a worker that tries again', () => {
    const again = apply({ ...removing, holder: 'wrk_1' }, { state: 'connecting', error: 'timeout' });
    expect(again).toMatchObject({ wanted: 'remove', state: 'off', lastError: 'timeout', holder: 'wrk_1' });
    expect(removalEnded(again)).toMatchObject({ wanted: 'nothing', lastError: null, holder: null });
  });

  it('ends when the channel is enabled again', () => {
    expect(connectAgain(removing, FACTS, false, NOW)).toMatchObject({
      ...{ wanted: 'connect', sealedCredentials: null, removeUntil: null, fence: 7 },
    });
  });
});
