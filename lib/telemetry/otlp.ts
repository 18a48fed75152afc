import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { ROOT_CONTEXT } from '@opentelemetry/api';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, SamplingDecision, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace';
import { wait } from '../clock.ts';
import { childSpan, startTrace, type Trace } from '../trace.ts';
import { watchDeliveries } from './deliveries.ts';
import type { Telemetry, TelemetryOptions } from './options.ts';
import { RecordedSpan, type Recorder } from './recorded.ts';
import { SilentSpan, type SpanOptions, type Tracer } from './tracer.ts';

/** Spans that wait for the collector; what comes beyond is dropped. About a kilobyte each. */
const MAX_WAITING = 8_192;
const BATCH = 512;
const EVERY_MS = 1_000;
const CLOSE_MS = 1_000;
/** How far the clock of the machine may move before times follow it. */
const DRIFT_MS = 2;

/** Records spans and sends them in batches, over OTLP (https://opentelemetry.io/docs/specs/otlp/). */
export function exportTraces(options: TelemetryOptions & { endpoint: string }): Telemetry {
  const { clock, endpoint, protocol, headers } = options;
  const decide = createDecision(options);
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  const exporter =
    protocol === 'http/json' ? new JsonExporter({ url, headers }) : new ProtobufExporter({ url, headers });
  const deliveries = watchDeliveries(exporter, { ...options, maxWaiting: MAX_WAITING, beforeBatch: follow });
  const processor = new BatchSpanProcessor({
    exporter: deliveries.exporter,
    maxQueueSize: MAX_WAITING,
    maxExportBatchSize: BATCH,
    scheduledDelayMillis: EVERY_MS,
  });

  let offset = timeOffset();
  function follow(): void {
    const now = timeOffset();
    if (Math.abs(now - offset) > DRIFT_MS) offset = now;
  }

  function tracerOf(recorder: Recorder): Tracer {
    const record = (
      name: string,
      trace: Trace,
      { kind = 'internal', parent, links = [], attributes }: SpanOptions,
    ) => new RecordedSpan({ name, kind, trace, parent, links, attributes }, recorder);
    return {
      silent: false,
      begin(name, begun = {}) {
        const { parent, entering } = begun;
        // Further in, everybody follows whoever let the trace in, so that it is whole or not there.
        if (parent && !entering && !parent.sampled) return new SilentSpan(parent);
        const trace = parent ? childSpan(parent) : startTrace();
        if (!parent || entering) trace.sampled = decide(trace.traceId, parent?.sampled);
        return trace.sampled ? record(name, trace, begun) : new SilentSpan(trace);
      },
      beginShared(name, members, begun = {}) {
        const trace = startTrace();
        const links = members.filter(({ sampled }) => sampled);
        if (links.length === 0) return new SilentSpan(trace);
        trace.sampled = true;
        return record(name, trace, { ...begun, links });
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
      // A collector that does not answer is told of in the log already, or not worth a word any more.
      await Promise.race([processor.shutdown().catch(() => {}), wait(clock, CLOSE_MS)]);
    },
  };
}

/** What the operator says of this process goes before what it says of itself. */
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

/** Milliseconds between the two clocks there are: one that is exact, and one that tells the time of day. */
function timeOffset(): number {
  return Date.now() - performance.now();
}

/** Whether a trace is recorded. `asked` is what the caller has decided; undefined where a trace begins here. */
type Decision = (traceId: string, asked: boolean | undefined) => boolean;

function createDecision({ sampler, samplerRatio }: TelemetryOptions): Decision {
  const root = rootDecision(sampler.replace('parentbased_', ''), samplerRatio);
  return sampler.startsWith('parentbased_') ? (traceId, asked) => asked ?? root(traceId) : root;
}

function rootDecision(sampler: string, ratio: number): (traceId: string) => boolean {
  if (sampler !== 'traceidratio') return () => sampler === 'always_on';
  const ratioSampler = new TraceIdRatioBasedSampler(ratio);
  return (traceId) =>
    ratioSampler.shouldSample(ROOT_CONTEXT, traceId).decision === SamplingDecision.RECORD_AND_SAMPLED;
}
