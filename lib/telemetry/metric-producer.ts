import { type HrTime, ValueType } from '@opentelemetry/api';
import { emptyResource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import type { Metrics } from '../metrics.ts';
import { type MetricFamily, type MetricSample, parsePrometheusText } from './prometheus-text.ts';

/**
 * Converts the Prometheus metrics of this process for the SDK. A collector that serves them to Prometheus again restores
 * the names: it appends the unit and `_total`.
 */
export function createMetricProducer(
  metrics: Pick<Metrics, 'text'>,
  scope: { name: string; version: string },
): MetricProducer {
  const startTime = hrTime(performance.timeOrigin);
  return {
    async collect() {
      const endTime = hrTime(Date.now());
      const families = parsePrometheusText(await metrics.text());
      const converted = families.flatMap((family) => convert(family, { startTime, endTime }) ?? []);
      return {
        resourceMetrics: { resource: emptyResource(), scopeMetrics: [{ scope, metrics: converted }] },
        errors: [],
      };
    },
  };
}

interface Period {
  startTime: HrTime;
  endTime: HrTime;
}

function convert(family: MetricFamily, period: Period): MetricData | undefined {
  const { name, unit } = metricName(family);
  const common = {
    descriptor: { name, unit, description: family.help, valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  const numbers = () =>
    family.samples.map(({ labels, value }) => ({ ...period, attributes: attributesOf(labels), value }));
  switch (family.type) {
    case 'counter':
      return { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: numbers() };
    case 'gauge':
      return { ...common, dataPointType: DataPointType.GAUGE, dataPoints: numbers() };
    case 'histogram':
    case 'summary':
      return { ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints: histograms(family, period) };
  }
  return undefined;
}

/** The names of the GenAI conventions, whose Prometheus form is ambiguous (`_` stands for `.` and for itself). */
const GEN_AI: Record<string, { name: string; unit: string }> = {
  gen_ai_client_token_usage: { name: 'gen_ai.client.token.usage', unit: '{token}' },
  gen_ai_client_operation_duration: { name: 'gen_ai.client.operation.duration', unit: 's' },
  gen_ai_client_operation_time_to_first_chunk: {
    name: 'gen_ai.client.operation.time_to_first_chunk',
    unit: 's',
  },
};
const GEN_AI_LABEL = /^gen_ai_(operation|provider|request|response|token|tool|agent)_(name|model|type)$/;

/** The units that a name can end with (https://ucum.org). */
const UNITS: [suffix: string, unit: string][] = [
  ['_seconds', 's'],
  ['_bytes', 'By'],
  ['_ratio', '1'],
];

function metricName({ name, type }: MetricFamily): { name: string; unit: string } {
  const stem = type === 'counter' ? name.replace(/_total$/, '') : name;
  const known = GEN_AI[stem.replace(/_seconds$/, '')];
  if (known) return known;
  const [suffix = '', unit = ''] = UNITS.find(([one]) => stem.endsWith(one)) ?? [];
  return { name: stem.slice(0, stem.length - suffix.length), unit };
}

function attributesOf(labels: Record<string, string>): Record<string, string> {
  const renamed = Object.entries(labels).map(([name, value]) => [attributeName(name), value]);
  return Object.fromEntries(renamed);
}

function attributeName(label: string): string {
  if (label === 'error_type') return 'error.type';
  return label.replace(GEN_AI_LABEL, 'gen_ai.$1.$2');
}

/** Groups the samples by their other labels. A summary becomes a histogram without boundaries. */
function histograms({ samples }: MetricFamily, period: Period): DataPoint<Histogram>[] {
  const groups = new Map<string, MetricSample[]>();
  for (const sample of samples) {
    if (sample.labels.quantile !== undefined) continue;
    const { le: _, ...labels } = sample.labels;
    const key = JSON.stringify(labels);
    const group = groups.get(key);
    if (group) group.push(sample);
    else groups.set(key, [sample]);
  }
  return Array.from(groups, ([key, group]) => {
    const attributes: Record<string, string> = JSON.parse(key);
    return { ...period, attributes: attributesOf(attributes), value: histogramOf(group) };
  });
}

/** Prometheus counts all observations up to a boundary, OpenTelemetry those between two boundaries. */
function histogramOf(samples: MetricSample[]): Histogram {
  const totalOf = (suffix: string) => samples.find((sample) => sample.suffix === suffix)?.value ?? 0;
  const count = totalOf('_count');
  const finite = samples.filter(({ suffix, labels }) => suffix === '_bucket' && labels.le !== '+Inf');
  const upTo = [...finite.map(({ value }) => value), count];
  return {
    buckets: {
      boundaries: finite.map(({ labels }) => Number(labels.le)),
      counts: upTo.map((value, index) => value - (upTo[index - 1] ?? 0)),
    },
    sum: totalOf('_sum'),
    count,
  };
}

function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.floor((ms - seconds * 1_000) * 1e6)];
}
