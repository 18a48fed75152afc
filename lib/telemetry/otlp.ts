import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { ROOT_CONTEXT } from '@opentelemetry/api';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, SamplingDecision, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace';
import { wait } from '../clock.ts';
import { childSpan, startTrace, type Trace } from '../trace.ts';
import { monitorDeliveries } from './deliveries.ts';
import type { Telemetry, TelemetryOptions } from './options.ts';
import { RecordedSpan, type SpanRecorder } from './recorded-span.ts';
import { SilentSpan, type SpanOptions, type Tracer } from './tracer.ts';

/** The most spans that wait for the collector, about one kilobyte each. Further spans are dropped. */
const MAX_WAITING = 8_192;
const BATCH_SPANS = 512;
const BATCH_INTERVAL_MS = 1_000;
const CLOSE_TIMEOUT_MS = 1_000;
/** The offset between the clocks is updated when it has drifted by more than this. */
const MAX_DRIFT_MS = 2;

/** Records spans and sends them in batches, over OTLP (https://opentelemetry.io/docs/specs/otlp/). */
export function exportTraces(options: TelemetryOptions & { endpoint: string }): Telemetry {
  const { clock, endpoint, protocol, headers } = options;
  const isSampled = createSamplingRule(options);
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  const exporter =
    protocol === 'http/json' ? new JsonExporter({ url, headers }) : new ProtobufExporter({ url, headers });
  const deliveries = monitorDeliveries(exporter, {
    ...options,
    maxWaiting: MAX_WAITING,
    beforeBatch: updateOffset,
  });
  const processor = new BatchSpanProcessor({
    exporter: deliveries.exporter,
    maxQueueSize: MAX_WAITING,
    maxExportBatchSize: BATCH_SPANS,
    scheduledDelayMillis: BATCH_INTERVAL_MS,
  });

  let offset = timeOffset();
  function updateOffset(): void {
    const now = timeOffset();
    if (Math.abs(now - offset) > MAX_DRIFT_MS) offset = now;
  }

  function tracerOf(recorder: SpanRecorder): Tracer {
    const record = (
      name: string,
      trace: Trace,
      { kind = 'internal', parent, links = [], attributes }: SpanOptions,
    ) => new RecordedSpan({ name, kind, trace, parent, links, attributes }, recorder);
    return {
      silent: false,
      begin(name, spanOptions = {}) {
        const { parent, entering } = spanOptions;
        // Inner services follow the decision of the entry point, so that a trace is recorded completely or not at all.
        if (parent && !entering && !parent.sampled) return new SilentSpan(parent);
        const trace = parent ? childSpan(parent) : startTrace();
        if (!parent || entering) trace.sampled = isSampled(trace.traceId, parent?.sampled);
        return trace.sampled ? record(name, trace, spanOptions) : new SilentSpan(trace);
      },
      beginShared(name, members, spanOptions = {}) {
        const trace = startTrace();
        const links = members.filter(({ sampled }) => sampled);
        if (links.length === 0) return new SilentSpan(trace);
        trace.sampled = true;
        return record(name, trace, { ...spanOptions, links });
      },
    };
  }

  const scope = { name: 'agent-hosting-service', version: options.version };
  const common = commonAttributes(options);
  return {
    name: 'telemetry',
    tracer(module) {
      const name = options.serviceName ?? common['service.name'] ?? module;
      const resource = defaultResource().merge(resourceFromAttributes({ ...common, 'service.name': name }));
      const ended = (span: RecordedSpan) => {
        if (deliveries.admit()) processor.onEnd(span);
      };
      return tracerOf({ resource, scope, offset: () => offset, ended });
    },
    async stop() {
      // An unavailable collector is already in the log.
      await Promise.race([processor.shutdown().catch(() => {}), wait(clock, CLOSE_TIMEOUT_MS)]);
    },
  };
}

/** The operator's attributes override the default ones. */
function commonAttributes({ version, resourceAttributes }: TelemetryOptions): Record<string, string> {
  return {
    'service.namespace': 'agent-hosting-service',
    'service.version': version,
    'service.instance.id': randomUUID(),
    'host.name': hostname(),
    'process.pid': String(process.pid),
    ...resourceAttributes,
  };
}

/** Returns the milliseconds between the monotonic clock and the wall clock. */
function timeOffset(): number {
  return Date.now() - performance.now();
}

/** Returns whether a trace is recorded. `parentSampled` is the caller's decision; undefined where a trace starts here. */
type SamplingRule = (traceId: string, parentSampled: boolean | undefined) => boolean;

function createSamplingRule({ sampler, samplerRatio }: TelemetryOptions): SamplingRule {
  const root = rootSamplingRule(sampler.replace('parentbased_', ''), samplerRatio);
  return sampler.startsWith('parentbased_')
    ? (traceId, parentSampled) => parentSampled ?? root(traceId)
    : root;
}

function rootSamplingRule(sampler: string, ratio: number): (traceId: string) => boolean {
  if (sampler !== 'traceidratio') return () => sampler === 'always_on';
  const ratioSampler = new TraceIdRatioBasedSampler(ratio);
  return (traceId) =>
    ratioSampler.shouldSample(ROOT_CONTEXT, traceId).decision === SamplingDecision.RECORD_AND_SAMPLED;
}
