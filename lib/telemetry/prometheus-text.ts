/** A family of the Prometheus text format (https://prometheus.io/docs/instrumenting/exposition_formats/). */
export interface MetricFamily {
  name: string;
  help: string;
  type: string;
  samples: MetricSample[];
}

export interface MetricSample {
  /** The rest of the name of the sample after the name of the family: empty, `_bucket`, `_sum` or `_count`. */
  suffix: string;
  labels: Record<string, string>;
  value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)",?/g;

/** Reads the text that `Metrics.text` returns. Lines of another form are skipped. */
export function parsePrometheusText(text: string): MetricFamily[] {
  const families: MetricFamily[] = [];
  let help = '';
  for (const line of text.split('\n')) {
    if (line.startsWith('# HELP ')) help = line.slice(line.indexOf(' ', 7) + 1);
    else if (line.startsWith('# TYPE ')) {
      const [name = '', type = ''] = line.slice(7).split(' ');
      families.push({ name, help, type, samples: [] });
      help = '';
    } else {
      const family = families.at(-1);
      const sample = family && parseSample(line, family.name);
      if (sample) family.samples.push(sample);
    }
  }
  return families;
}

function parseSample(line: string, family: string): MetricSample | undefined {
  const [, name = '', labels = '', value = ''] = LINE.exec(line) ?? [];
  if (!name.startsWith(family)) return undefined;
  return { suffix: name.slice(family.length), labels: parseLabels(labels), value: numberOf(value) };
}

function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const [, name = '', value = ''] of text.matchAll(LABEL)) labels[name] = unescaped(value);
  return labels;
}

function unescaped(value: string): string {
  return value.includes('\\') ? value.replace(/\\(.)/g, (_, one) => (one === 'n' ? '\n' : one)) : value;
}

function numberOf(text: string): number {
  if (text === '+Inf') return Number.POSITIVE_INFINITY;
  return text === '-Inf' ? Number.NEGATIVE_INFINITY : Number(text);
}
