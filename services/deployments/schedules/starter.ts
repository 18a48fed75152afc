import type { Clock } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import type { ClaimedRun, RunQueue } from '../store/run-queue.ts';

/** Starts that run at the same time. */
const SLOTS = 64;
/**
 * One claim takes at most so many runs of an owner, and none while more of them are starting. So slow starts of one owner
 * or schedule leave slots for the others.
 */
const SLOTS_PER_OWNER = 16;
const SLOTS_PER_SCHEDULE = 8;
/** A claim costs a statement, so the next one waits until several slots are free. */
const MIN_FREE_SLOTS = 16;
/** Longer than a start can take. */
export const START_LEASE_MS = 30_000;
/** The time limit of the calls of one start. */
export const START_TIMEOUT_MS = 15_000;

interface StarterContext {
  queue: Pick<RunQueue, 'claim'>;
  /** Starts one run. Its failures are stored with the run. */
  start: (run: ClaimedRun) => Promise<void>;
  clock: Clock;
  log: Log;
}

export interface Starter {
  /** Claims queued runs now. */
  request(): void;
  /** Resolves when the current starts have ended. */
  stop(): Promise<void>;
}

/**
 * The second commit: starts queued runs. It claims only as many runs as it has free slots, so no run waits in memory.
 * Owners take turns.
 */
export function createStarter({ queue, start, clock, log }: StarterContext): Starter {
  const running = new Map<string, ClaimedRun>();
  const starts = new Set<Promise<void>>();
  let afterOwner = '';
  let claiming: Promise<void> | undefined;
  let mayHaveMore = false;
  /** The last claim left out the runs of busy owners or schedules. */
  let hasBusy = false;
  let isStopped = false;

  function request(): void {
    mayHaveMore = true;
    claimIfFree();
  }

  function claimIfFree(): void {
    const free = SLOTS - running.size;
    if (isStopped || claiming || !mayHaveMore || free < MIN_FREE_SLOTS) return;
    claiming = claim(free)
      .catch((error: unknown) => {
        mayHaveMore = false;
        log.warn({ err: error }, 'queued runs could not be claimed; the ticker tries again');
      })
      .finally(() => {
        claiming = undefined;
        claimIfFree();
      });
  }

  async function claim(slots: number): Promise<void> {
    mayHaveMore = false;
    const now = clock.now();
    const busyOwners = busy(({ ownerId }) => ownerId, SLOTS_PER_OWNER);
    const busySchedules = busy(({ deploymentId }) => deploymentId, SLOTS_PER_SCHEDULE);
    hasBusy = busyOwners.length + busySchedules.length > 0;
    const runs = await queue.claim({
      now,
      leaseUntil: new Date(now.getTime() + START_LEASE_MS),
      slots,
      afterOwner,
      perOwner: SLOTS_PER_OWNER,
      busyOwners,
      busySchedules,
    });
    // After the last owner, the claims begin with the first one again.
    const isPastEnd = runs.length === 0 && afterOwner !== '';
    if (runs.length > 0 || isPastEnd) mayHaveMore = true;
    afterOwner = runs.at(-1)?.ownerId ?? '';
    for (const run of runs) begin(run);
  }

  function begin(run: ClaimedRun): void {
    running.set(run.runId, run);
    const work = start(run)
      .catch((error: unknown) => {
        log.warn({ err: error, run_id: run.runId }, 'a run could not be started; it is started again later');
      })
      .finally(() => {
        running.delete(run.runId);
        starts.delete(work);
        if (hasBusy) mayHaveMore = true;
        claimIfFree();
      });
    starts.add(work);
  }

  /** Owners or schedules with more starts than one claim takes. */
  function busy(keyOf: (run: ClaimedRun) => string, limit: number): string[] {
    const counts = new Map<string, number>();
    for (const run of running.values()) counts.set(keyOf(run), (counts.get(keyOf(run)) ?? 0) + 1);
    return [...counts].filter(([, count]) => count > limit).map(([key]) => key);
  }

  return {
    request,
    async stop() {
      isStopped = true;
      await claiming;
      await Promise.all(starts);
    },
  };
}
