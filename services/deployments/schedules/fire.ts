import type { Clock } from '../../../lib/clock.ts';
import type { Ids } from '../../../lib/ids.ts';
import type { Log } from '../../../lib/log.ts';
import type { Tracer } from '../../../lib/telemetry/tracer.ts';
import { type Trace, traceparent } from '../../../lib/trace.ts';
import { decideDue } from '../domain/schedules/fates.ts';
import { jitterMs } from '../domain/schedules/jitter.ts';
import type { DueSchedule, FiredRun, FireStore } from '../store/fires.ts';
import type { CompiledTimings } from './compiled-timings.ts';
import type { ScheduleMetrics } from './metrics.ts';
import type { TurnLookup } from './turn-lookup.ts';

interface FireContext {
  store: FireStore;
  timings: CompiledTimings;
  turns: Pick<TurnLookup, 'lookUp'>;
  metrics: ScheduleMetrics;
  tracer: Tracer;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** Schedules in one transaction. */
  batch: number;
}

export type Fire = ReturnType<typeof createFire>;

/** The first commit: decides on the scheduled times that are due, and queues their runs. */
export function createFire({ store, timings, turns, metrics, tracer, clock, ids, log, batch }: FireContext) {
  function decide(due: DueSchedule, now: Date) {
    const { deploymentId, jitterSeconds, overlap, catchUpSeconds, unfinished, queued, status } = due;
    // A process of the previous release can disable a schedule without clearing its times.
    const compiled = status === 'enabled' ? compile(due) : undefined;
    if (!compiled) return { runs: [], nextAt: null, dueAt: null };
    // A queued run waits for an earlier one if it is not the only unfinished run.
    const active = { isUnfinished: unfinished > 0, isQueued: queued > 0 && unfinished > 1 };
    const schedule = { deploymentId, compiled, jitterSeconds, overlap, catchUpSeconds };
    const { rows, cancelsActive, next } = decideDue(schedule, due.nextAt, now, active);
    const runs = rows.map(
      (row): FiredRun => ({
        ...row,
        runId: ids('run'),
        dueAt: new Date(row.scheduledFor.getTime() + jitterMs(deploymentId, row.scheduledFor, jitterSeconds)),
        cancelsPrevious: cancelsActive,
        waits: overlap === 'buffer_one' && active.isUnfinished,
      }),
    );
    return { runs, nextAt: next?.scheduledFor ?? null, dueAt: next?.dueAt ?? null };
  }

  /** Undefined when the time zone data of this process lacks the zone. */
  function compile(due: DueSchedule) {
    try {
      return timings.compile(due.timing, due.createdAt);
    } catch (error) {
      log.error(
        { err: error, deployment_id: due.deploymentId },
        'a schedule cannot be read; it does not run until it is changed',
      );
      return undefined;
    }
  }

  /** Overlaps are judged by the current state of the turns, or by the last known state while sessions is unavailable. */
  async function updateActiveRuns(now: Date, trace: Trace): Promise<void> {
    const active = await store.activeTurns(now, batch, { trace });
    if (active.length > 0) await turns.lookUp(active, trace).catch(() => {});
  }

  async function fire(deploymentId?: string): Promise<number> {
    const now = clock.now();
    const span = tracer.begin('ahs.schedules.fire');
    const { trace } = span;
    try {
      if (deploymentId === undefined) await updateActiveRuns(now, trace);
      const fires = await store.fire({
        now,
        limit: batch,
        ...(deploymentId !== undefined && { deploymentId }),
        traceparent: traceparent(trace),
        decide: (due) => decide(due, now),
        trace,
      });
      span.set({ 'ahs.schedules': fires.length });
      span.end();
      for (const { runs } of fires) {
        metrics.fires.inc();
        for (const { status } of runs) metrics.runs(status);
      }
      return fires.length;
    } catch (error) {
      span.end('INTERNAL');
      throw error;
    }
  }

  return {
    /** Fires one batch. Returns the number of schedules. */
    fireDue: (): Promise<number> => fire(),

    /** Fires one schedule if it is due, so that a change does not lose its pending time. */
    async fireOne(deploymentId: string): Promise<void> {
      await fire(deploymentId);
    },
  };
}
