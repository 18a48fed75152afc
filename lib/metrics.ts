import {
  type About,
  Children,
  Count,
  Distribution,
  type Exposed,
  Gauge,
  type Reader,
} from './metrics/families.ts';

/**
 * What a process counts and times, for Prometheus. A module asks for its metrics by name; whoever asks first
 * makes them. On hot paths `of` is called once and its answer kept: what it returns only adds numbers up.
 */
export interface Metrics {
  counter(about: About): Family<Counter>;
  /** `buckets` are upper bounds, ascending. */
  histogram(about: About & { buckets: readonly number[] }): Family<Histogram>;
  /** A value that is read when somebody asks for it. */
  gauge(about: About, read: Reader): void;
  readonly contentType: string;
  /** Everything in Prometheus' text format (https://prometheus.io/docs/instrumenting/exposition_formats/). */
  text(): Promise<string>;
}

export interface Family<Child> {
  /** The one with these label values, in the order of `labels`. */
  of(...values: string[]): Child;
}

export interface Counter {
  add(count?: number): void;
}

export interface Histogram {
  observe(value: number): void;
}

/** Seconds, from half a millisecond to ten seconds. */
export const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** `others`: what is exposed beside them, in the same format. */
export function createMetrics(others: () => Promise<string> = async () => ''): Metrics {
  const families = new Map<string, Exposed>();

  function family<F extends Exposed>(name: string, make: () => F): F {
    const known = (families.get(name) as F | undefined) ?? make();
    families.set(name, known);
    return known;
  }

  return {
    counter: (about) => family(about.name, () => new Children(about, 'counter', () => new Count())),
    histogram: ({ buckets, ...about }) =>
      family(about.name, () => new Children(about, 'histogram', () => new Distribution(buckets))),
    gauge: (about, read) => void family(about.name, () => new Gauge(about)).readers.push(read),
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    async text() {
      const ours = [...families.values()].flatMap((one) => one.lines());
      return `${await others()}${ours.join('\n')}\n`;
    },
  };
}
