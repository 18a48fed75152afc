import { type CounterMetric, type HistogramMetric, type Metrics, SECONDS } from '../../../lib/metrics.ts';

export interface ScheduleMetrics {
  fires: CounterMetric;
  lateness: HistogramMetric;
  /** Counts a run that got a status. */
  runs(status: string): void;
}

/** Lateness beyond ten seconds, after an outage. */
const LATE_SECONDS = [30, 60, 300, 1_800, 3_600];

export function createScheduleMetrics(metrics: Metrics): ScheduleMetrics {
  const fires = metrics.counter({
    name: 'ahs_schedule_fires_total',
    help: 'Schedules whose due times were decided.',
  });
  const lateness = metrics.histogram({
    name: 'ahs_schedule_lateness_seconds',
    help: 'Time from the due time of a scheduled run to its start.',
    buckets: [...SECONDS, ...LATE_SECONDS],
  });
  const runs = metrics.counter({
    name: 'ahs_schedule_runs_total',
    help: 'Runs of schedules that got a status.',
    labels: ['status'],
  });
  runs.labels('queued').inc(0);
  return {
    fires: fires.labels(),
    lateness: lateness.labels(),
    runs: (status) => runs.labels(status).inc(),
  };
}
