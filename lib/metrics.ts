import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/**
 * What a process counts and times, for Prometheus. A module asks for its metrics by name; whoever asks first
 * makes them. On hot paths `labels` is called once and its answer kept.
 */
export interface Metrics {
  counter(about: About): Family<Counted>;
  /** `buckets` are upper bounds, ascending. */
  histogram(about: About & { buckets: readonly number[] }): Family<Observed>;
  /** A value that is read when somebody asks for it. */
  gauge(about: About, read: Reader): void;
  readonly contentType: string;
  /** Everything in Prometheus' text format (https://prometheus.io/docs/instrumenting/exposition_formats/). */
  text(): Promise<string>;
}

export interface About {
  name: string;
  help: string;
  labels?: readonly string[];
}

export interface Family<Child> {
  /** The one with these label values, in the order of `labels`. */
  labels(...values: string[]): Child;
}

export interface Counted {
  inc(count?: number): void;
}

export interface Observed {
  observe(value: number): void;
}

/** Says each value there is at the moment. */
export type Reader = (set: (value: number, ...labels: string[]) => void) => void;

/** Seconds, from half a millisecond to ten seconds. */
export const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function createMetrics(): Metrics {
  const registry = new Registry();
  const readers = new Map<string, Reader[]>();

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

/** What Node says of this process: memory, CPU, garbage collection, the lag of its event loop. */
export function createProcessMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const metrics = createMetrics();
  return { ...metrics, text: async () => `${await registry.metrics()}\n${await metrics.text()}` };
}
