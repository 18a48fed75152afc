import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/**
 * The Prometheus metrics of a process. The first request for a name creates the metric; later requests return the same
 * metric. Hot paths call `labels` once and keep the result.
 */
export interface Metrics {
  counter(definition: MetricDefinition): MetricFamily<CounterMetric>;
  /** `buckets` are upper bounds, ascending. */
  histogram(definition: MetricDefinition & { buckets: readonly number[] }): MetricFamily<HistogramMetric>;
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

interface MetricFamily<Child> {
  /** Returns the metric with these label values, in the order of `labels`. */
  labels(...values: string[]): Child;
}

interface CounterMetric {
  inc(count?: number): void;
}

export interface HistogramMetric {
  observe(value: number): void;
}

/** Reports each current value with its label values. */
type GaugeReader = (set: (value: number, ...labels: string[]) => void) => void;

/** Seconds, from half a millisecond to ten seconds. */
export const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function createMetrics(): Metrics {
  const registry = new Registry();
  const readers = new Map<string, GaugeReader[]>();

  return {
    counter({ name, help, labels = [] }) {
      const known = registry.getSingleMetric(name);
      if (known instanceof Counter) return known;
      return new Counter({ name, help, labelNames: [...labels], registers: [registry] });
    },
    histogram({ name, help, labels = [], buckets }) {
      const known = registry.getSingleMetric(name);
      if (known instanceof Histogram) return known;
      const about = { name, help, labelNames: [...labels], buckets: [...buckets] };
      return new Histogram({ ...about, registers: [registry] });
    },
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
    text: () => registry.metrics(),
  };
}

/** Adds the default metrics of Node: memory, CPU, garbage collection and event loop lag. */
export function createProcessMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const metrics = createMetrics();
  return { ...metrics, text: async () => `${await registry.metrics()}\n${await metrics.text()}` };
}
