import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { LogCopy } from '../log-copy.ts';
import type { Metrics } from '../metrics.ts';
import type { Module } from '../modules.ts';
import type { Tracer } from './tracer.ts';

/** https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/#general-sdk-configuration */
export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** https://opentelemetry.io/docs/specs/otel/protocol/exporter/#specify-protocol */
export const PROTOCOLS = ['http/protobuf', 'http/json', 'grpc'] as const;

export const SIGNALS = ['traces', 'metrics', 'logs'] as const;
export type Signal = (typeof SIGNALS)[number];

/** The receiver of one signal. */
export interface Receiver {
  protocol: (typeof PROTOCOLS)[number];
  /** The URL of the signal; undefined for the port of the protocol on this machine. */
  url: string | undefined;
  /** Sent with every batch. Secret. */
  headers: Readonly<Record<string, string>>;
}

/** The bounds of the spans or log records that wait for their delivery. */
export interface BatchLimits {
  /** Further spans or records are dropped. */
  maxQueueSize: number;
  maxExportBatchSize: number;
  scheduledDelayMillis: number;
}

/** The configuration of OpenTelemetry. */
export interface TelemetrySettings {
  /** A signal without a receiver is not exported. */
  receivers: Readonly<Partial<Record<Signal, Receiver>>>;
  sampler: (typeof SAMPLERS)[number];
  /** The fraction of traces that the ratio samplers record, 0–1. */
  samplerRatio: number;
  /** Replaces the module names and the process name as service name when set. */
  serviceName: string | undefined;
  /** The service name of metrics and logs, which belong to the process. */
  processName: string;
  /** Additional resource attributes of this process. */
  resourceAttributes: Readonly<Record<string, string>>;
  spanLimits: BatchLimits;
  logLimits: BatchLimits;
  metricIntervalMs: number;
  version: string;
}

export interface TelemetryOptions extends TelemetrySettings {
  clock: Clock;
  log: Log;
  /** The source of exported log records. */
  logCopy?: LogCopy | undefined;
  metrics: Metrics;
}

/** The exporters of a process. `stop` delivers the remaining spans, metrics and log records for at most a second. */
export interface Telemetry extends Module {
  /** Each module appears as a separate service in traces, whether it shares a process or not. */
  tracer(module: string): Tracer;
}
