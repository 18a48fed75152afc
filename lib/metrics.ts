import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { LabelSets, OTHER } from './label-sets.ts';
import { Summary } from './summary.ts';

/**
 * The Prometheus metrics of a process. The first request for a name creates the metric; later requests return the same
 * metric. Hot paths call `labels` once and keep the result.
 */
export interface Metrics {
  counter(definition: MetricDefinition): MetricFamily<CounterMetric>;
  /** `buckets` are upper bounds, ascending. */
  histogram(definition: MetricDefinition & { buckets: readonly number[] }): MetricFamily<HistogramMetric>;
  /**
   * A distribution with many label values: a histogram if the operator has chosen `detail`, else a summary that has only
   * sum and count. Both have the same names of series.
   */
  distribution(definition: DistributionDefinition): MetricFamily<HistogramMetric>;
  /** A value that is read at each scrape. */
  gauge(definition: MetricDefinition, read: GaugeReader): void;
  readonly contentType: string;
  /** Returns all metrics in Prometheus' text format (https://prometheus.io/docs/instrumenting/exposition_formats/). */
  text(): Promise<string>;
}

interface MetricDefinition {
  name: string;
  help: string;
  labels?: readonly string[];
}

interface DistributionDefinition extends MetricDefinition {
  detail: HistogramDetail;
  /** Combinations of label values with series of their own. Later ones share the labels `other`. Absent: no limit. */
  limit?: number;
  buckets: readonly number[];
}

/** Groups of metrics whose buckets are exported on request, because they have many label values. */
export const HISTOGRAM_DETAILS = ['routes', 'rpcs', 'statements', 'models'] as const;
export type HistogramDetail = (typeof HISTOGRAM_DETAILS)[number];

interface MetricFamily<Child> {
  /** Returns the metric with these label values, in the order of `labels`. */
  labels(...values: string[]): Child;
}

export interface CounterMetric {
  inc(count?: number): void;
}

export interface HistogramMetric {
  observe(value: number): void;
}

/** Reports each current value with its label values. */
type GaugeReader = (set: (value: number, ...labels: string[]) => void) => void;

/** Seconds, from half a millisecond to ten seconds. */
export const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface MetricsOptions {
  /** The groups of metrics that are exported with their buckets. */
  histograms?: readonly HistogramDetail[];
}

export function createMetrics({ histograms = [] }: MetricsOptions = {}): Metrics {
  const registry = new Registry();
  const readers = new Map<string, GaugeReader[]>();
  const summaries: Summary[] = [];
  const distributions = new Map<string, MetricFamily<HistogramMetric>>();

  function histogram({
    name,
    help,
    labels = [],
    buckets,
  }: MetricDefinition & { buckets: readonly number[] }) {
    const known = registry.getSingleMetric(name);
    if (known instanceof Histogram) return known;
    const about = { name, help, labelNames: [...labels], buckets: [...buckets] };
    return new Histogram({ ...about, registers: [registry] });
  }

  function summary({ name, help, labels = [] }: MetricDefinition): MetricFamily<HistogramMetric> {
    const created = new Summary({ name, help, labels });
    summaries.push(created);
    return created;
  }

  function distribution(definition: DistributionDefinition): MetricFamily<HistogramMetric> {
    const { name, detail, limit } = definition;
    const known = distributions.get(name);
    if (known) return known;
    const family = histograms.includes(detail) ? histogram(definition) : summary(definition);
    const created = limit === undefined ? family : limited(family, limit);
    distributions.set(name, created);
    return created;
  }

  return {
    counter({ name, help, labels = [] }) {
      const known = registry.getSingleMetric(name);
      if (known instanceof Counter) return known;
      return new Counter({ name, help, labelNames: [...labels], registers: [registry] });
    },
    histogram,
    distribution,
    gauge({ name, help, labels = [] }, read) {
      const known = readers.get(name);
      if (known) return void known.push(read);
      const all = [read];
      readers.set(name, all);
      const gauge: Gauge = new Gauge({
        name,
        help,
        labelNames: [...labels],
        registers: [registry],
        collect: () => {
          for (const each of all) each((value, ...values) => gauge.labels(...values).set(value));
        },
      });
    },
    contentType: registry.contentType,
    async text() {
      const summarized = summaries.map((one) => one.text());
      return [await registry.metrics(), ...summarized].join('\n');
    },
  };
}

function limited(family: MetricFamily<HistogramMetric>, limit: number): MetricFamily<HistogramMetric> {
  const sets = new LabelSets(limit);
  return { labels: (...values) => family.labels(...sets.choose(values, () => values.map(() => OTHER))) };
}

/** The sums of `nodejs_active_…{type}`. They are gauges with the names of counters. */
const MISNAMED = [
  'nodejs_active_resources_total',
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
];

/** Adds the default metrics of Node: memory, CPU, garbage collection and event loop lag. */
export function createProcessMetrics(options: MetricsOptions = {}): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  const metrics = createMetrics(options);
  return { ...metrics, text: async () => `${await registry.metrics()}\n${await metrics.text()}` };
}
