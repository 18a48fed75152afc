import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '../../lib/log.ts';
import { LogCopy } from '../../lib/log-copy.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { openTelemetry } from '../../lib/telemetry/open.ts';
import { PROTOCOLS, type Receiver } from '../../lib/telemetry/options.ts';
import { createFakeClock } from '../support/clock.ts';
import type { Message } from '../support/otlp/protobuf.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../support/otlp/receiver.ts';

const LIMITS = { maxQueueSize: 100, maxExportBatchSize: 100, scheduledDelayMillis: 60_000 };
const ENCODINGS = {
  'http/protobuf': 'application/x-protobuf',
  'http/json': 'application/json',
  grpc: 'application/grpc',
};

/** Records a span, a counter, a histogram and two log lines, and stops, which delivers them. */
async function exportAll(receiver: OtlpReceiver, protocol: Receiver['protocol']) {
  const base = protocol === 'grpc' ? receiver.grpcUrl : receiver.httpUrl;
  const to = (signal: string): Receiver => ({
    protocol,
    url: protocol === 'grpc' ? base : `${base}/v1/${signal}`,
    headers: { 'x-token': `${protocol} ${signal}` },
  });
  const lines: string[] = [];
  const logCopy = new LogCopy();
  const destination = { write: (line: string) => lines.push(line) };
  const log = createLog({ level: 'info', destination, copy: logCopy });
  const metrics = createMetrics();
  metrics
    .counter({ name: 'ahs_things_total', help: 'Things.', labels: ['kind'] })
    .labels('a "b"\\\n')
    .inc(3);
  const duration = { name: 'ahs_thing_duration_seconds', help: 'Durations.', buckets: [0.1, 1] };
  for (const seconds of [0.05, 0.5, 0.6, 5]) metrics.histogram(duration).labels().observe(seconds);
  log.info('before the start');
  const telemetry = await openTelemetry({
    receivers: { traces: to('traces'), metrics: to('metrics'), logs: to('logs') },
    sampler: 'parentbased_always_on',
    samplerRatio: 1,
    serviceName: undefined,
    processName: 'everything',
    resourceAttributes: { team: 'blue' },
    spanLimits: LIMITS,
    logLimits: LIMITS,
    metricIntervalMs: 60_000,
    version: '1.2.3',
    // The stop waits for all exports, without its time limit of one second.
    clock: createFakeClock(),
    log,
    logCopy,
    metrics,
  });
  const span = telemetry.tracer('edge').begin('work');
  const { traceId, spanId } = span.trace;
  log.error(
    {
      trace_id: traceId,
      span_id: spanId,
      slots: 3,
      unavailable: [{ name: 'bwrap', reason: null }],
      err: new RangeError('too far'),
    },
    'it failed',
  );
  span.end();
  await telemetry.stop();
  return { trace: span.trace, lines: lines.map((line) => JSON.parse(line)) };
}

/** Returns the only message of a signal with its resource, scope and items. */
function received({ exports }: OtlpReceiver, signal: string) {
  const [found, ...others] = exports.filter((one) => one.signal === signal);
  expect(others).toEqual([]);
  const [group] = Object.values(found!.message)[0] as Message[];
  const { resource, ...rest } = group as { resource: { attributes: Message[] } };
  const [scope] = Object.values(rest)[0] as unknown as Message[];
  const items = Object.values(scope!).find((value) => Array.isArray(value)) as Message[];
  return { ...found!, resource: attributesIn(resource), scope: scope!, items };
}

/** Returns the only data point. */
function pointIn(data: unknown): Message {
  const [point, ...others] = (data as { dataPoints: Message[] }).dataPoints;
  expect(others).toEqual([]);
  return point ?? {};
}

function attributesIn({ attributes }: Message): Record<string, unknown> {
  const pairs = attributes as { key: string; value: Message }[];
  return Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value)[0]]));
}

describe.each(PROTOCOLS)('OTLP over %s', (protocol) => {
  let receiver: OtlpReceiver;
  let sent: Awaited<ReturnType<typeof exportAll>>;
  beforeAll(async () => {
    receiver = await startOtlpReceiver();
    sent = await exportAll(receiver, protocol);
  });
  afterAll(() => receiver[Symbol.asyncDispose]());

  const common = (signal: string) => ({
    encoding: ENCODINGS[protocol],
    token: `${protocol} ${signal}`,
    resource: { team: 'blue', 'service.namespace': 'agent-hosting-service', 'service.version': '1.2.3' },
  });

  it('delivers spans with the schema of their names and the service name of their module', () => {
    const traces = received(receiver, 'traces');
    expect(traces).toMatchObject({
      ...common('traces'),
      resource: { 'service.name': 'edge' },
      scope: {
        scope: { name: 'agent-hosting-service', version: '1.2.3' },
        schemaUrl: 'https://opentelemetry.io/schemas/1.41.0',
      },
      items: [{ name: 'work', traceId: sent.trace.traceId, spanId: sent.trace.spanId }],
    });
  });

  it('delivers the Prometheus metrics with units instead of suffixes', () => {
    const { items, ...metrics } = received(receiver, 'metrics');
    expect(metrics).toMatchObject({ ...common('metrics'), resource: { 'service.name': 'everything' } });
    const named = (name: string) => items.find((metric) => metric.name === name) ?? {};
    const things = named('ahs_things');
    expect(things).toMatchObject({ sum: { isMonotonic: true, aggregationTemporality: 2 } });
    const point = pointIn(things.sum);
    expect([point.asDouble, attributesIn(point)]).toEqual([3, { kind: 'a "b"\\\n' }]);
    expect(named('ahs_thing_duration')).toMatchObject({
      unit: 's',
      description: 'Durations.',
      histogram: { dataPoints: [{ explicitBounds: [0.1, 1], sum: 6.15 }] },
    });
    const { bucketCounts } = pointIn(named('ahs_thing_duration').histogram);
    expect((bucketCounts as unknown[]).map(Number)).toEqual([1, 2, 1]);
  });

  it('delivers log records with their trace, beside the unchanged log', () => {
    const { items, ...logs } = received(receiver, 'logs');
    expect(logs).toMatchObject({ ...common('logs'), resource: { 'service.name': 'everything' } });
    expect(items).toMatchObject([
      { body: { stringValue: 'before the start' }, severityText: 'info', severityNumber: 9 },
      {
        body: { stringValue: 'it failed' },
        severityNumber: 17,
        traceId: sent.trace.traceId,
        spanId: sent.trace.spanId,
      },
    ]);
    expect(attributesIn(items[1]!)).toMatchObject({
      'exception.type': 'RangeError',
      'exception.message': 'too far',
      'exception.stacktrace': expect.stringContaining('RangeError: too far'),
    });
    expect(sent.lines.map(({ msg }) => msg)).toEqual(['before the start', 'it failed']);
    expect(sent.lines[1]).toMatchObject({ slots: 3, trace_id: sent.trace.traceId });
  });
});
