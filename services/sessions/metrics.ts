import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { startPeriodicTask } from '../../lib/periodic-task.ts';
import type { FinalStatus } from './domain/state.ts';
import type { SessionChange } from './store/apply.ts';
import type { MeasureWork, Work } from './store/work.ts';

/** Counts what this process has committed. */
export interface SessionCounters {
  /** Counts the turns that a committed change has ended. */
  committed(change: SessionChange): void;
  claimed(turns: number): void;
  leaseLost(): void;
}

const FINAL_STATUSES: readonly FinalStatus[] = ['completed', 'failed', 'interrupted', 'cancelled'];

export function createSessionCounters(metrics: Metrics): SessionCounters {
  const ended = metrics.counter({
    name: 'ahs_turns_total',
    help: 'Ended turns by status: completed, failed, interrupted or cancelled.',
    labels: ['status'],
  });
  // A counter that begins at its first event hides that event from rates.
  for (const status of FINAL_STATUSES) ended.labels(status).inc(0);
  const claimed = metrics
    .counter({ name: 'ahs_turns_claimed_total', help: 'Turns that were leased to a runner.' })
    .labels();
  const lost = metrics
    .counter({
      name: 'ahs_leases_lost_total',
      help: 'Turns whose lease expired because their runner did not renew it.',
    })
    .labels();
  return {
    committed({ change: { turns } }) {
      for (const { status, finishedAt } of turns) if (finishedAt) ended.labels(status).inc();
    },
    claimed: (turns) => claimed.inc(turns),
    leaseLost: () => lost.inc(),
  };
}

const INTERVAL_MS = 5_000;
/** A measurement pauses for this many times its duration, so that it takes at most about 1 % of one connection's time. */
const PAUSE_FACTOR = 100;

interface GaugeContext {
  measure: MeasureWork;
  countFollowers(): number;
  metrics: Metrics;
  clock: Clock;
  log: Log;
}

/**
 * Exports the state of the whole database as gauges: the same values in each instance of the service. They are measured
 * at the start and every five seconds, or less often if the measurement is slow. A scrape reads no table.
 */
export function startGauges({ measure, countFollowers, metrics, clock, log }: GaugeContext) {
  let work: Work = { queuedTurns: 0, oldestReadyAt: undefined, pendingApprovals: 0, sandboxes: [] };
  const sandboxes = new Map<string, number>();
  let pausedUntil = 0;

  const gauge = (name: string, help: string, read: () => number) =>
    metrics.gauge({ name, help }, (set) => set(read()));
  gauge(
    'ahs_turns_queued',
    'Queued turns, of the whole database; at most 100000 of each kind are counted.',
    () => work.queuedTurns,
  );
  gauge(
    'ahs_turns_oldest_ready_age_seconds',
    'Time since the creation of the oldest turn that a runner could start, of the whole database; 0 without such a turn.',
    () =>
      work.oldestReadyAt ? Math.max(0, clock.now().getTime() - work.oldestReadyAt.getTime()) / 1_000 : 0,
  );
  gauge(
    'ahs_approvals_pending',
    'Approvals that wait for a decision, of the whole database.',
    () => work.pendingApprovals,
  );
  gauge(
    'ahs_followers',
    'Followers of sessions in this process: event streams, AI streams and consoles.',
    countFollowers,
  );
  metrics.gauge(
    {
      name: 'ahs_sandboxes',
      help: 'Sandboxes that have not ended by state, of the whole database.',
      labels: ['state'],
    },
    (set) => {
      for (const [state, count] of sandboxes) set(count, state);
    },
  );

  async function refresh(): Promise<void> {
    if (clock.now().getTime() < pausedUntil) return;
    const startedAt = performance.now();
    work = await measure();
    for (const state of sandboxes.keys()) sandboxes.set(state, 0);
    for (const { state, count } of work.sandboxes) sandboxes.set(state, count);
    pausedUntil = clock.now().getTime() + (performance.now() - startedAt) * PAUSE_FACTOR;
  }

  const onFailure = (error: unknown) =>
    log.warn({ err: error }, 'the gauges of turns, sandboxes and approvals keep their last values');
  const first = refresh().catch(onFailure);
  const task = startPeriodicTask({ clock, everyMs: INTERVAL_MS, work: refresh, onFailure });
  return {
    async stop(): Promise<void> {
      await Promise.all([first, task.stop()]);
    },
  };
}
