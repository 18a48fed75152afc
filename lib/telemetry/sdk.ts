import { context, logs as logsApi, metrics as metricsApi, trace as traceApi } from '@opentelemetry/api';
import { emptyResource } from '@opentelemetry/resources';
import { BatchLogRecordProcessor } from '@opentelemetry/sdk-logs';
import { PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { startNodeSdk } from '@opentelemetry/sdk-node';
import { wait } from '../clock.ts';
import { monitorOutages } from './deliveries.ts';
import { createLogExporter, createMetricExporter } from './exporters.ts';
import { recordLogs } from './log-records.ts';
import { createMetricProducer } from './metric-producer.ts';
import type { Receiver, Telemetry, TelemetryOptions } from './options.ts';
import { commonAttributes, processResource, SCOPE } from './resource.ts';
import { createSpanExport } from './span-export.ts';
import { silentTracer } from './tracer.ts';

const STOP_LIMIT_MS = 1_000;
/** A collector that takes longer for all metrics gets the next ones instead. */
const MAX_METRIC_EXPORT_MS = 30_000;

/**
 * Starts the OpenTelemetry SDK with an exporter for each signal that has a receiver. The SDK owns the providers and the
 * exporters and stops them. Spans, metrics and log records are those of this service (ADR 40).
 */
export async function startExport(options: TelemetryOptions): Promise<Telemetry> {
  const { clock, receivers, version, logCopy } = options;
  const attributes = commonAttributes(options);
  const spans = receivers.traces && (await createSpanExport(options, receivers.traces, attributes));
  const sdk = startNodeSdk({
    // Failures are logged by `monitorOutages`. The console belongs to the log of this service.
    logLevel: 'none',
    propagators: [],
    resourceDetectors: [],
    baseResource: emptyResource(),
    resourceAttributes: processResource(options, attributes).attributes,
    spanProcessors: spans ? [spans.processor] : [],
    metricReaders: receivers.metrics ? [await createMetricReader(options, receivers.metrics)] : [],
    logRecordProcessors: receivers.logs ? [await createLogProcessor(options, receivers.logs)] : [],
  });
  if (receivers.logs) logCopy?.connect(recordLogs(logsApi.getLogger(SCOPE, version)));
  return {
    name: 'telemetry',
    tracer: spans ? spans.tracer : () => silentTracer,
    async stop() {
      // An unavailable collector is already in the log.
      await Promise.race([sdk.shutdown().catch(() => {}), wait(clock, STOP_LIMIT_MS)]);
      for (const api of [traceApi, metricsApi, logsApi, context]) api.disable();
    },
  };
}

async function createMetricReader(options: TelemetryOptions, receiver: Receiver) {
  const { metrics, version, metricIntervalMs } = options;
  return new PeriodicExportingMetricReader({
    exporter: monitorOutages(await createMetricExporter(receiver), {
      ...options,
      signal: 'metrics',
      receiver,
    }),
    exportIntervalMillis: metricIntervalMs,
    exportTimeoutMillis: Math.min(metricIntervalMs, MAX_METRIC_EXPORT_MS),
    metricProducers: [createMetricProducer(metrics, { name: SCOPE, version })],
  });
}

async function createLogProcessor(options: TelemetryOptions, receiver: Receiver) {
  const exporter = monitorOutages(await createLogExporter(receiver), {
    ...options,
    signal: 'logs',
    receiver,
  });
  return new BatchLogRecordProcessor({ exporter, ...options.logLimits });
}
