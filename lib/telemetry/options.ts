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
  /** Base URL of an OTLP receiver; without one nothing is recorded. */
  endpoint: string | undefined;
  protocol: (typeof PROTOCOLS)[number];
  /** Sent with every batch. Secret. */
  headers: Readonly<Record<string, string>>;
  sampler: (typeof SAMPLERS)[number];
  /** Of the ratio samplers: which part of all traces is recorded, 0–1. */
  samplerRatio: number;
  /** Stands for the names of all modules, when given. */
  serviceName: string | undefined;
  /** What else is to be said of this process. */
  resourceAttributes: Readonly<Record<string, string>>;
  version: string;
  clock: Clock;
  log: Log;
  metrics: Metrics;
}

/** Where the spans of a process go. Stopping delivers what is left, for at most a second. */
export interface Telemetry extends Module {
  /** Each module appears as a service of its own, in one process as in many. */
  tracer(module: string): Tracer;
}
