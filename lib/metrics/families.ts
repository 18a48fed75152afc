/** What a family of metrics has to be told about, and what it shows of itself. */
export interface About {
  name: string;
  help: string;
  labels?: readonly string[];
}

export interface Exposed {
  /** In Prometheus' text format. */
  lines(): string[];
}

interface Shown {
  /** Suffix of the name, further labels, value. */
  samples(): [suffix: string, label: string, value: number][];
}

/** Metrics of one name, one for each set of label values. */
export class Children<Child extends Shown> implements Exposed {
  readonly #about: About;
  readonly #type: string;
  readonly #make: () => Child;
  readonly #children = new Map<string, Child>();

  constructor(about: About, type: string, make: () => Child) {
    this.#about = about;
    this.#type = type;
    this.#make = make;
  }

  of(...values: string[]): Child {
    const labels = labelText(this.#about, values);
    const known = this.#children.get(labels) ?? this.#make();
    this.#children.set(labels, known);
    return known;
  }

  lines(): string[] {
    const lines = [...this.#children].flatMap(([labels, child]) =>
      child.samples().map(([suffix, label, value]) => {
        const all = [labels, label].filter(Boolean).join(',');
        return `${this.#about.name}${suffix}${all && `{${all}}`} ${value}`;
      }),
    );
    return [...heading(this.#about, this.#type), ...lines];
  }
}

export class Count implements Shown {
  #count = 0;

  add(count = 1): void {
    this.#count += count;
  }

  samples(): [string, string, number][] {
    return [['', '', this.#count]];
  }
}

export class Distribution implements Shown {
  readonly #buckets: readonly number[];
  readonly #counts: number[];
  #sum = 0;

  constructor(buckets: readonly number[]) {
    this.#buckets = buckets;
    this.#counts = new Array(buckets.length + 1).fill(0);
  }

  observe(value: number): void {
    const buckets = this.#buckets;
    let index = 0;
    while (index < buckets.length && value > (buckets[index] ?? 0)) index++;
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#sum += value;
  }

  samples(): [string, string, number][] {
    let total = 0;
    const bounds = [...this.#buckets.map(String), '+Inf'];
    const cumulative = bounds.map((bound, index): [string, string, number] => {
      total += this.#counts[index] ?? 0;
      return ['_bucket', `le="${bound}"`, total];
    });
    return [...cumulative, ['_sum', '', this.#sum], ['_count', '', total]];
  }
}

/** Says each value there is at the moment. */
export type Reader = (set: (value: number, ...labels: string[]) => void) => void;

/** Values that are read when somebody asks. */
export class Gauge implements Exposed {
  readonly readers: Reader[] = [];
  readonly #about: About;

  constructor(about: About) {
    this.#about = about;
  }

  lines(): string[] {
    const lines = heading(this.#about, 'gauge');
    for (const read of this.readers) {
      read((value, ...values) => {
        const labels = labelText(this.#about, values);
        lines.push(`${this.#about.name}${labels && `{${labels}}`} ${value}`);
      });
    }
    return lines;
  }
}

function heading({ name, help }: About, type: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

function labelText({ labels = [] }: About, values: readonly string[]): string {
  return labels.map((label, index) => `${label}="${escaped(values[index] ?? '')}"`).join(',');
}

function escaped(value: string): string {
  return value.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');
}
