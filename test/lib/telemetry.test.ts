import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createLog } from '../../lib/log.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { openTelemetry } from '../../lib/telemetry/open.ts';
import { PROTOCOLS, type Receiver, type TelemetryOptions } from '../../lib/telemetry/options.ts';
import type { Trace } from '../../lib/trace.ts';
import { createFakeClock } from '../support/clock.ts';
import { startCollector } from '../support/collector.ts';
import { until } from '../support/wait.ts';

const HEADER = 'Bearer for the collector alone';
const CLIENT: Trace = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), sampled: true };
const QUIET: Trace = { ...CLIENT, sampled: false };

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

const LIMITS = { maxQueueSize: 8_192, maxExportBatchSize: 512, scheduledDelayMillis: 1_000 };

const tracesTo = (url: string, protocol: Receiver['protocol'] = 'http/json') => ({
  receivers: { traces: { protocol, url: `${url}/v1/traces`, headers: { authorization: HEADER } } },
});

interface Line {
  level: string;
  msg: string;
}

/** With a manual clock, a stop waits for its last exports without a time limit. */
async function open(options: Partial<TelemetryOptions>, clock = createFakeClock()) {
  const lines: string[] = [];
  const metrics = createMetrics();
  const log = createLog({
    level: 'debug',
    destination: { write: (line) => lines.push(line) },
  });
  const telemetry = await openTelemetry({
    receivers: {},
    sampler: 'parentbased_always_on',
    samplerRatio: 1,
    serviceName: undefined,
    processName: 'everything',
    resourceAttributes: {},
    spanLimits: LIMITS,
    logLimits: LIMITS,
    metricIntervalMs: 60_000,
    version: '1.2.3',
    clock,
    log,
    metrics,
    ...options,
  });
  stops.push(async () => {
    const stopped = telemetry.stop();
    clock.advance(1_000);
    await stopped;
  });
  const counted = async (outcome: string) => {
    const found = new RegExp(`ahs_telemetry_spans_total\\{outcome="${outcome}"\\} (\\d+)`).exec(
      await metrics.text(),
    );
    return Number(found?.[1] ?? 0);
  };
  return {
    telemetry,
    tracer: telemetry.tracer('edge'),
    counted,
    text: () => lines.join(''),
    lines: () => lines.map((line): Line => JSON.parse(line)).map(({ level, msg }) => [level, msg]),
  };
}

/** A URL of a port without a listener. */
async function deadEnd(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
}

async function collecting() {
  const collector = await startCollector();
  stops.push(() => collector[Symbol.asyncDispose]());
  return collector;
}

const AWAY = ['warn', 'traces cannot be delivered; spans that exceed the queue are dropped'];

describe('openTelemetry without a collector', () => {
  it('records nothing and passes traces on unchanged', async () => {
    const { tracer } = await open({});
    expect(tracer.silent).toBe(true);
    const span = tracer.begin('anything', { parent: CLIENT });
    expect([span.silent, span.trace]).toEqual([true, CLIENT]);
    expect(tracer.begin('a root').trace.sampled).toBe(false);
  });
});

describe('openTelemetry with a collector', () => {
  it('sends ended spans at the latest when the process stops', async () => {
    const collector = await collecting();
    const { tracer, telemetry, counted } = await open(tracesTo(collector.url));
    const root = tracer.begin('root', { kind: 'server' });
    const part = tracer.begin('part', {
      parent: root.trace,
      links: [CLIENT],
      attributes: { a: 1, gone: undefined },
    });
    part.set({ b: ['x', 'y'], long: 'x'.repeat(2_000) });
    part.link(QUIET);
    part.end('SESSION_NOT_FOUND');
    part.end();
    tracer.begin('broken', { parent: root.trace }).end('DEPENDENCY_UNAVAILABLE');
    tracer.begin('database error', { parent: root.trace }).end('23505');
    root.end();
    await telemetry.stop();
    expect(collector.of(root.trace.traceId)).toMatchObject([
      {
        name: 'part',
        parentSpanId: root.trace.spanId,
        failed: false,
        attributes: { a: 1, b: ['x', 'y'], long: `${'x'.repeat(511)}…`, 'error.type': 'SESSION_NOT_FOUND' },
        links: [
          { traceId: CLIENT.traceId, spanId: CLIENT.spanId },
          { traceId: QUIET.traceId, spanId: QUIET.spanId },
        ],
      },
      { name: 'broken', failed: true },
      { name: 'database error', failed: true, attributes: { 'error.type': '23505' } },
      { name: 'root', parentSpanId: '', kind: 'server', service: 'edge' },
    ]);
    expect(collector.headers.authorization).toBe(HEADER);
    expect(await counted('delivered')).toBe(4);
  });

  it('exports each module as a service with the configured name', async () => {
    const collector = await collecting();
    const { telemetry } = await open({
      ...tracesTo(collector.url),
      serviceName: 'agents-eu',
      resourceAttributes: { 'service.version': 'ours', team: 'blue' },
    });
    telemetry.tracer('edge').begin('one').end();
    await telemetry.stop();
    expect(collector.spans).toMatchObject([
      { resource: { 'service.name': 'agents-eu', 'service.version': 'ours', team: 'blue' } },
    ]);
  });

  it('sends protobuf when configured', async () => {
    const collector = await collecting();
    const { tracer, telemetry, counted } = await open(tracesTo(collector.url, 'http/protobuf'));
    tracer.begin('one').end();
    await telemetry.stop();
    expect(collector.headers['content-type']).toBe('application/x-protobuf');
    expect(await counted('delivered')).toBe(1);
  });
});

describe('sampling', () => {
  const CASES: [
    TelemetryOptions['sampler'],
    ratio: number,
    root: boolean,
    sampledByClient: boolean,
    unsampledByClient: boolean,
  ][] = [
    ['parentbased_always_on', 1, true, true, false],
    ['parentbased_always_off', 1, false, true, false],
    ['parentbased_traceidratio', 0, false, true, false],
    ['always_on', 1, true, true, true],
    ['always_off', 1, false, false, false],
    ['traceidratio', 0, false, false, false],
    ['traceidratio', 1, true, true, true],
  ];

  it.each(CASES)(
    '%s (%d) decides for root spans and for spans of external clients',
    async (sampler, samplerRatio, ...expected) => {
      const { tracer } = await open({ ...tracesTo(await deadEnd()), sampler, samplerRatio });
      const spans = [
        tracer.begin('root'),
        tracer.begin('sampled', { parent: CLIENT, entering: true }),
        tracer.begin('unsampled', { parent: QUIET, entering: true }),
      ];
      expect(spans.map(({ silent }) => !silent)).toEqual(expected);
    },
  );

  it('inherits the decision for inner spans and shared work', async () => {
    const { tracer } = await open({ ...tracesTo(await deadEnd()), sampler: 'always_on' });
    expect(tracer.begin('inner', { parent: QUIET }).silent).toBe(true);
    expect(tracer.beginShared('without sampled members', [QUIET]).silent).toBe(true);
    const shared = tracer.beginShared('with one sampled member', [QUIET, CLIENT]);
    expect(shared.trace).toMatchObject({ sampled: true });
    expect(shared.trace.traceId).not.toBe(CLIENT.traceId);
  });
});

describe('an unavailable collector', () => {
  it('is logged once, loses spans beyond the queue limit and does not delay the stop', async () => {
    const clock = createFakeClock();
    const { tracer, telemetry, lines, text, counted } = await open(tracesTo(await deadEnd()), clock);
    for (let i = 0; i < 10_000; i++) tracer.begin('one').end();
    await until('a batch is sent', () => {
      clock.advance(2_000);
      return lines().length > 0;
    });
    expect(lines()).toEqual([AWAY]);
    expect(text()).not.toContain(HEADER);
    expect(await counted('dropped')).toBe(10_000 - 8_192);
    const stopped = telemetry.stop();
    clock.advance(1_000);
    await stopped;
    expect(lines()).toEqual([AWAY]);
  });

  it.each(PROTOCOLS)('is logged once per signal and does not delay the stop: %s', async (protocol) => {
    const receiver = { protocol, url: await deadEnd(), headers: {} };
    const clock = createFakeClock();
    const { telemetry, tracer, lines } = await open(
      { receivers: { traces: receiver, metrics: receiver }, metricIntervalMs: 100 },
      clock,
    );
    tracer.begin('one').end();
    const outages = () => lines().map(([, msg]) => msg?.split(' ')[0]);
    await until('both outages are logged', () => {
      clock.advance(2_000);
      return new Set(outages()).size === 2;
    });
    const stopped = telemetry.stop();
    clock.advance(1_000);
    await stopped;
    expect(outages().sort()).toEqual(['metrics', 'traces']);
  });

  it('is logged when it stops responding and when it responds again', async () => {
    const collector = await collecting();
    const clock = createFakeClock();
    const { tracer, lines } = await open(tracesTo(collector.url), clock);
    collector.hang();
    tracer.begin('one').end();
    await until('the collector receives a request', () => collector.headers.authorization !== undefined);
    clock.advance(2_000);
    expect(lines()).toEqual([AWAY]);
    collector.answer();
    tracer.begin('another').end();
    await until('the batch is delivered', () => lines().length > 1);
    expect(lines()).toEqual([AWAY, ['info', 'traces are delivered again']]);
  });
});
