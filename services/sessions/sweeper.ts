import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { unchanged } from './domain/change.ts';
import { expire } from './domain/decide.ts';
import { type RunLimits, reclaim } from './domain/finish.ts';
import type { Approvals } from './store/approvals.ts';
import type { Changes } from './store/changes.ts';
import type { Claims, HeldLease } from './store/claims.ts';
import type { Eraser } from './store/writes.ts';

const TICK_MS = 250;
/** Erasing is in no hurry. */
const ERASE_EVERY = 240;
/** Nothing should ever be found stuck. */
const UNSTICK_EVERY = 20;
const BATCH = 200;

export interface SweeperContext {
  eraser: Eraser;
  approvals: Approvals;
  changes: Changes;
  claims: Claims;
  clock: Clock;
  log: Log;
  limits: RunLimits;
  purgeAfterMs: number;
}

/**
 * Sees to it that nothing is stuck: leases nobody renews go back to the queue, sleeping turns wake up, questions
 * that nobody answers are settled, and what was deleted is erased. Every replica sweeps; the locks of the rows keep them apart.
 */
export function startSweeper(context: SweeperContext) {
  const { eraser, approvals, changes, claims, clock, log, limits, purgeAfterMs } = context;
  let ticks = 0;
  let stopped = false;
  /** One line for an outage, however long it lasts. */
  let failing = false;
  let running: Promise<void> = Promise.resolve();
  let cancel = clock.after(TICK_MS, tick);

  function tick(): void {
    running = sweep()
      .then(
        () => {
          failing = false;
        },
        (error: unknown) => {
          if (!failing) log.warn({ err: error }, 'a sweep failed and is repeated until it succeeds');
          failing = true;
        },
      )
      .finally(() => {
        if (!stopped) cancel = clock.after(TICK_MS, tick);
      });
  }

  async function sweep(): Promise<void> {
    await claims.wake(BATCH);
    await Promise.all((await claims.expired(BATCH)).map(takeBack));
    await Promise.all((await approvals.expired(clock.now(), BATCH)).map(settle));
    if (ticks % UNSTICK_EVERY === 0) await unstick();
    if (ticks++ % ERASE_EVERY !== 0) return;
    const now = clock.now();
    await eraser.purge(new Date(now.getTime() - purgeAfterMs), now);
  }

  async function takeBack({ sessionId, turnId, fence }: HeldLease): Promise<void> {
    await changes.change(sessionId, 1_000, (state) => {
      const turn = state?.current;
      const now = clock.now();
      // It may have ended, or been renewed, while this stood in line.
      const expired =
        turn?.turnId === turnId && turn.fence === fence && turn.leaseUntil !== null && turn.leaseUntil < now;
      if (!state) throw new Error('a lease without a session');
      return { change: turn && expired ? reclaim(state, turn, 'lease_lost', limits, now) : unchanged(state) };
    });
    log.info({ session_id: sessionId, turn_id: turnId }, 'a lease has run out');
  }

  async function settle({ sessionId, approvalId }: { sessionId: string; approvalId: string }): Promise<void> {
    await changes.change(sessionId, 1_000, (state) => {
      if (!state) throw new Error('an approval without a session');
      return { change: expire(state, approvalId) };
    });
  }

  async function unstick(): Promise<void> {
    const freed = await claims.unstick(BATCH);
    if (freed > 0) log.error({ turns: freed }, 'turns stood in the queue without anything before them');
  }

  return {
    async stop(): Promise<void> {
      stopped = true;
      cancel();
      await running;
    },
  };
}
