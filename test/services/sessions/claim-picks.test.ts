import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createLocalBus } from '../../../lib/bus/local.ts';
import { Claims } from '../../../services/sessions/claims.ts';
import type { TurnQueue } from '../../../services/sessions/store/turn-queue.ts';
import { createFakeClock } from '../../support/clock.ts';
import { NOW, sessionState, turnState } from './domain/states.ts';

type PickOptions = Parameters<TurnQueue['claim']>[0];

const LOCKED = {
  claimed: [],
  leasedAt: NOW,
  approvals: new Map(),
  prefetched: undefined,
  isCut: false,
  isContended: false,
  hasSkipped: true,
};
const started = (turns: number) => ({
  ...LOCKED,
  hasSkipped: false,
  claimed: Array.from({ length: turns }, () => ({ state: sessionState(), turn: turnState() })),
});

/** The waiting claims over a queue whose picks are given. */
function openClaims(
  pick: (options: PickOptions, count: number) => typeof LOCKED | ReturnType<typeof started>,
) {
  const clock = createFakeClock(NOW);
  let picks = 0;
  const claims = new Claims({
    turnQueue: { claim: async (options: PickOptions) => pick(options, ++picks) },
    messagesOf: async () => new Map(),
    handBack: async () => {},
    bus: createLocalBus(),
    clock,
    warn: (error) => {
      throw error;
    },
  });
  const trace = { traceId: '0'.repeat(32), spanId: '0'.repeat(16), sampled: false };
  const wait = (runnerId: string, { signal } = new AbortController(), waitMs = 20_000) =>
    claims.claim({ runnerId, slots: 1, waitMs }, { signal, trace, deadline: clock.now().getTime() + 60_000 });
  return { clock, wait, picks: () => picks, [Symbol.asyncDispose]: () => claims.drain() };
}

/** Resolves when the pick that is due has ended. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await setImmediate();
}

describe('a pick', () => {
  it('follows after 10 ms when the session of a ready turn was locked', async () => {
    await using claims = openClaims(({ assign }, count) => {
      if (count === 1) return LOCKED;
      assign(1);
      return started(1);
    });
    const claim = claims.wait('rnr_1');
    await settled();
    expect(claims.picks()).toBe(1);
    claims.clock.advance(10);
    expect((await claim).claimed).toHaveLength(1);
  });

  it('happens at most ten times in a second while a session stays locked', async () => {
    await using claims = openClaims(() => LOCKED);
    const claim = claims.wait('rnr_1');
    for (let ms = 0; ms < 1_000; ms += 10) {
      claims.clock.advance(10);
      await settled();
    }
    expect(claims.picks()).toBeGreaterThan(5);
    expect(claims.picks()).toBeLessThanOrEqual(10);
    claims.clock.advance(20_000);
    expect((await claim).claimed).toEqual([]);
  });

  it('follows at once for a claim without a wait that arrives during a pick that meets a locked session', async () => {
    let attempt: ReturnType<Claims['claim']> | undefined;
    await using claims = openClaims((_, count) => {
      if (count === 1) attempt = claims.wait('rnr_2', new AbortController(), 0);
      return LOCKED;
    });
    const claim = claims.wait('rnr_1');
    await settled();
    expect((await attempt)?.claimed).toEqual([]);
    expect(claims.picks()).toBe(2);
    claims.clock.advance(20_000);
    expect((await claim).claimed).toEqual([]);
  });

  it('follows at once when turns stay ready because their runner has left', async () => {
    const leaving = new AbortController();
    await using claims = openClaims(({ assign }, count) => {
      if (count === 1) leaving.abort();
      const runners = assign(1);
      return runners.length === 0 ? { ...LOCKED, hasSkipped: false } : started(1);
    });
    const left = claims.wait('rnr_1', leaving);
    await expect(left).rejects.toMatchObject({ code: 'CANCELLED' });
    const next = await claims.wait('rnr_2');
    expect(next.claimed).toHaveLength(1);
  });
});
