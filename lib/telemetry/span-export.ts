import { BatchSpanProcessor } from '@opentelemetry/sdk-trace';
import { countDeliveries, monitorOutages } from './deliveries.ts';
import { createSpanExporter } from './exporters.ts';
import type { Receiver, TelemetryOptions } from './options.ts';
import type { RecordedSpan } from './recorded-span.ts';
import { createSamplingRule, createTracer } from './recording.ts';
import { moduleResource, SCOPE } from './resource.ts';
import type { Tracer } from './tracer.ts';

/**
 * The version of the semantic conventions that the spans follow: the last one with the conventions of generative AI,
 * whose own repository has published no schema yet.
 */
const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.41.0';
/** The offset between the clocks is updated when it has drifted by more than this. */
const MAX_DRIFT_MS = 2;

/** Creates the processor for the spans of this process, and the tracers that record them. */
export async function createSpanExport(
  options: TelemetryOptions,
  receiver: Receiver,
  attributes: Record<string, string>,
): Promise<{ processor: BatchSpanProcessor; tracer(module: string): Tracer }> {
  let offset = timeOffset();
  function updateOffset(): void {
    const now = timeOffset();
    if (Math.abs(now - offset) > MAX_DRIFT_MS) offset = now;
  }

  const { metrics, spanLimits, version } = options;
  const exporter = await createSpanExporter(receiver);
  const deliveries = countDeliveries(
    monitorOutages(exporter, { ...options, signal: 'traces', receiver }),
    metrics,
    { maxWaiting: spanLimits.maxQueueSize, beforeBatch: updateOffset },
  );
  const processor = new BatchSpanProcessor({ exporter: deliveries.exporter, ...spanLimits });
  const ended = (span: RecordedSpan) => {
    if (deliveries.admit()) processor.onEnd(span);
  };
  const isSampled = createSamplingRule(options);
  const scope = { name: SCOPE, version, schemaUrl: SCHEMA_URL };
  return {
    processor,
    tracer(module) {
      const resource = moduleResource(module, options, attributes);
      return createTracer({ resource, scope, offset: () => offset, ended }, isSampled);
    },
  };
}

/** Returns the milliseconds between the monotonic clock and the wall clock. */
function timeOffset(): number {
  return Date.now() - performance.now();
}
