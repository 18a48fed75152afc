import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
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

export const PROTOCOLS = ['http/protobuf', 'http/json'] as const;

export interface TelemetryOptions {
  /** The base URL of an OTLP receiver. Undefined disables recording. */
  endpoint: string | undefined;
  protocol: (typeof PROTOCOLS)[number];
  /** Sent with every batch. Secret. */
  headers: Readonly<Record<string, string>>;
  sampler: (typeof SAMPLERS)[number];
  /** The fraction of traces that the ratio samplers record, 0–1. */
  samplerRatio: number;
  /** Replaces the module names as service name when set. */
  serviceName: string | undefined;
  /** Additional resource attributes of this process. */
  resourceAttributes: Readonly<Record<string, string>>;
  version: string;
  clock: Clock;
  log: Log;
  metrics: Metrics;
}

/** The span exporter of a process. `stop` delivers the remaining spans for at most a second. */
export interface Telemetry extends Module {
  /** Each module appears as a separate service in traces, whether it shares a process or not. */
  tracer(module: string): Tracer;
}
