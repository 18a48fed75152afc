/** A distribution of which only sum and count are kept: two series for each combination of label values. */
export class Summary {
  readonly #name: string;
  readonly #help: string;
  readonly #labels: readonly string[];
  readonly #children = new Map<string, SummaryChild>();

  constructor({ name, help, labels }: { name: string; help: string; labels: readonly string[] }) {
    this.#name = name;
    this.#help = help;
    this.#labels = labels;
  }

  /** Returns the values of one combination of label values, in the order of the labels. */
  labels(...values: string[]): SummaryChild {
    const key = values.join('\n');
    const known = this.#children.get(key);
    if (known) return known;
    const child = new SummaryChild(
      this.#labels.map((label, index) => formatLabel(label, values[index] ?? '')),
    );
    this.#children.set(key, child);
    return child;
  }

  /** Returns the family in the text format of Prometheus. A family without values has its head only. */
  text(): string {
    const name = this.#name;
    const lines = [`# HELP ${name} ${this.#help}`, `# TYPE ${name} summary`];
    for (const { labels, sum, count } of this.#children.values())
      lines.push(`${name}_sum${labels} ${rounded(sum)}`, `${name}_count${labels} ${count}`);
    return `${lines.join('\n')}\n`;
  }
}

class SummaryChild {
  /** As text between braces; empty without labels. */
  readonly labels: string;
  sum = 0;
  count = 0;

  constructor(labels: string[]) {
    this.labels = labels.length === 0 ? '' : `{${labels.join(',')}}`;
  }

  observe(value: number): void {
    this.sum += value;
    this.count++;
  }
}

/** Microseconds, or millionths of another unit. More digits make a scrape longer and are not exact. */
function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

function formatLabel(name: string, value: string): string {
  const escaped = value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
  return `${name}="${escaped}"`;
}
