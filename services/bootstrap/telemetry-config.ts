import { type Setting, type Settings, setting } from '../../lib/env.ts';
import {
  type BatchLimits,
  PROTOCOLS,
  type Receiver,
  SAMPLERS,
  SIGNALS,
  type Signal,
  type TelemetrySettings,
} from '../../lib/telemetry/options.ts';
import packageJson from '../../package.json' with { type: 'json' };
import type { Target } from './target.ts';

type Protocol = (typeof PROTOCOLS)[number];
type ExporterName = 'otlp' | 'none';

const HTTP = ['http:', 'https:'];

const endpointOf = (signal: string, name: Signal) =>
  setting.optionalSecretUrl(
    `OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`,
    HTTP,
    `URL to which ${name} are sent unchanged, instead of OTEL_EXPORTER_OTLP_ENDPOINT. Over HTTP it includes the path.`,
  );

const headersOf = (signal: string, name: Signal) =>
  setting.optionalSecretPairs(
    `OTEL_EXPORTER_OTLP_${signal}_HEADERS`,
    `Headers of requests with ${name}, instead of OTEL_EXPORTER_OTLP_HEADERS.`,
  );

function optionalChoice<Value extends string>(
  variable: string,
  values: readonly Value[],
  about: string,
): Setting<Value | undefined> {
  return { ...setting.choice(variable, values, { about }), optional: true };
}

const protocolOf = (signal: string, name: Signal): Setting<Protocol | undefined> =>
  optionalChoice(
    `OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`,
    PROTOCOLS,
    `Protocol for ${name}, instead of OTEL_EXPORTER_OTLP_PROTOCOL.`,
  );

const exporterOf = (signal: string, about: string): Setting<ExporterName | undefined> =>
  optionalChoice(`OTEL_${signal}_EXPORTER`, ['otlp', 'none'], about);

const limitOf = (variable: string, fallback: number, unit: string, about: string) =>
  setting.integer(variable, { min: 1, max: 1_000_000, unit }, { fallback, about });

const receivers = {
  otlpEndpoint: setting.optionalSecretUrl(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    HTTP,
    'Base URL of an OpenTelemetry collector: port 4318 for HTTP, 4317 for gRPC. Over HTTP, /v1/traces, /v1/metrics and ' +
      '/v1/logs are appended. Without a URL and without OTEL_…_EXPORTER=otlp, nothing is exported and no traces are recorded.',
  ),
  otlpHeaders: setting.optionalSecretPairs(
    'OTEL_EXPORTER_OTLP_HEADERS',
    'Headers of each request to the collector.',
  ),
  otlpProtocol: setting.choice('OTEL_EXPORTER_OTLP_PROTOCOL', PROTOCOLS, {
    fallback: 'http/protobuf',
    about: 'Protocol between this process and the collector.',
  }),
  tracesExporter: exporterOf(
    'TRACES',
    'otlp exports traces, none does not. Default: otlp if a URL for traces is set.',
  ),
  tracesEndpoint: endpointOf('TRACES', 'traces'),
  tracesHeaders: headersOf('TRACES', 'traces'),
  tracesProtocol: protocolOf('TRACES', 'traces'),
  metricsExporter: exporterOf(
    'METRICS',
    'otlp exports the metrics of /metrics, none does not. Default: otlp if a URL for metrics is set.',
  ),
  metricsEndpoint: endpointOf('METRICS', 'metrics'),
  metricsHeaders: headersOf('METRICS', 'metrics'),
  metricsProtocol: protocolOf('METRICS', 'metrics'),
  logsExporter: exporterOf(
    'LOGS',
    'otlp exports log lines in addition to the standard output. Default: none.',
  ),
  logsEndpoint: endpointOf('LOGS', 'logs'),
  logsHeaders: headersOf('LOGS', 'logs'),
  logsProtocol: protocolOf('LOGS', 'logs'),
};

/** The variables of OpenTelemetry (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/). */
export const telemetrySettings = {
  otelDisabled: setting.flag('OTEL_SDK_DISABLED', {
    fallback: false,
    about: 'true turns off the export of all signals. The other OTEL_ variables then have no effect.',
  }),
  ...receivers,
  tracesSampler: setting.choice('OTEL_TRACES_SAMPLER', SAMPLERS, {
    fallback: 'parentbased_always_on',
    about:
      'Sampler that selects the recorded traces. With parentbased_…, a client that sends a traceparent decides for its requests.',
  }),
  tracesSamplerRatio: setting.fraction('OTEL_TRACES_SAMPLER_ARG', {
    fallback: 1,
    about: 'Fraction of traces that the traceidratio samplers record.',
  }),
  otelServiceName: setting.optionalText(
    'OTEL_SERVICE_NAME',
    'Service name in traces, metrics and logs. Replaces the names of the modules (edge, sessions and so on) and of the process.',
  ),
  otelResourceAttributes: setting.optionalPairs(
    'OTEL_RESOURCE_ATTRIBUTES',
    'Resource attributes of traces, metrics and logs. They extend and override the attributes of the process.',
  ),
  spanQueue: limitOf(
    'OTEL_BSP_MAX_QUEUE_SIZE',
    8_192,
    'spans',
    'Maximum number of spans that wait for the collector, about 1 KiB each. Further spans are dropped.',
  ),
  spanBatch: limitOf('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512, 'spans', 'Maximum number of spans in a request.'),
  spanDelayMs: limitOf(
    'OTEL_BSP_SCHEDULE_DELAY',
    1_000,
    'milliseconds',
    'Longest time that a span waits for its batch.',
  ),
  logQueue: limitOf(
    'OTEL_BLRP_MAX_QUEUE_SIZE',
    2_048,
    'records',
    'Maximum number of log records that wait for the collector. Further records are dropped.',
  ),
  logBatch: limitOf(
    'OTEL_BLRP_MAX_EXPORT_BATCH_SIZE',
    512,
    'records',
    'Maximum number of log records in a request.',
  ),
  logDelayMs: limitOf(
    'OTEL_BLRP_SCHEDULE_DELAY',
    1_000,
    'milliseconds',
    'Longest time that a log record waits for its batch.',
  ),
  metricIntervalMs: setting.integer(
    'OTEL_METRIC_EXPORT_INTERVAL',
    { min: 100, max: 86_400_000, unit: 'milliseconds' },
    { fallback: 60_000, about: 'Interval at which metrics are sent.' },
  ),
};

type TelemetryConfig = Settings<typeof telemetrySettings>;

/** Returns the configuration of OpenTelemetry for a process of this target. */
export function telemetryOptions(config: TelemetryConfig, target: Target): TelemetrySettings {
  const { spanQueue, spanBatch, spanDelayMs, logQueue, logBatch, logDelayMs } = config;
  return {
    receivers: config.otelDisabled ? {} : receiversOf(config),
    sampler: config.tracesSampler,
    samplerRatio: config.tracesSamplerRatio,
    serviceName: config.otelServiceName,
    processName: target === 'all' ? 'agent-hosting-service' : target,
    resourceAttributes: config.otelResourceAttributes ?? {},
    spanLimits: limits(spanQueue, spanBatch, spanDelayMs),
    logLimits: limits(logQueue, logBatch, logDelayMs),
    metricIntervalMs: config.metricIntervalMs,
    version: packageJson.version,
  };
}

/** Whether log lines are exported. */
export function exportsLogs(config: TelemetryConfig): boolean {
  return !config.otelDisabled && receiverOf(config, 'logs') !== undefined;
}

function receiversOf(config: TelemetryConfig): Partial<Record<Signal, Receiver>> {
  const found: Partial<Record<Signal, Receiver>> = {};
  for (const signal of SIGNALS) {
    const receiver = receiverOf(config, signal);
    if (receiver) found[signal] = receiver;
  }
  return found;
}

function receiverOf(config: TelemetryConfig, signal: Signal): Receiver | undefined {
  const protocol = config[`${signal}Protocol`] ?? config.otlpProtocol;
  const url = config[`${signal}Endpoint`] ?? signalUrl(config.otlpEndpoint, protocol, signal);
  const isDefault = signal !== 'logs' && url !== undefined;
  const exporter = config[`${signal}Exporter`] ?? (isDefault ? 'otlp' : 'none');
  if (exporter === 'none') return undefined;
  return { protocol, url, headers: config[`${signal}Headers`] ?? config.otlpHeaders ?? {} };
}

/** Over gRPC the method selects the signal, over HTTP the path. */
function signalUrl(base: string | undefined, protocol: Protocol, signal: Signal): string | undefined {
  if (base === undefined || protocol === 'grpc') return base;
  return `${base.replace(/\/+$/, '')}/v1/${signal}`;
}

function limits(maxQueueSize: number, batch: number, scheduledDelayMillis: number): BatchLimits {
  return { maxQueueSize, maxExportBatchSize: Math.min(batch, maxQueueSize), scheduledDelayMillis };
}
