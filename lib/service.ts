import type { Random } from './backoff.ts';
import type { Bus } from './bus/bus.ts';
import type { RateLimiter } from './bus/rate-limiter.ts';
import type { Clock } from './clock.ts';
import type { CallerRule } from './grpc/caller-rules.ts';
import type { Endpoint, Observation } from './grpc/transport.ts';
import type { Ids } from './ids.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Module } from './modules.ts';
import type { ReservedSpace } from './reserved-space.ts';
import type { Tracer } from './telemetry/tracer.ts';

/** The dependencies that every service gets when it is opened. */
export interface ServiceContext {
  clock: Clock;
  ids: Ids;
  log: Log;
  bus: Bus;
  /** Rate limits that all processes share. */
  rateLimiter: RateLimiter;
  /** The URL of the database server. Each service uses only its own schema. */
  databaseUrl: string;
  /** The shared key that signs service-to-service tokens. */
  serviceSecret: string;
  /** Changes of the callers that may call this service; none when absent. */
  callerRules?: readonly CallerRule[];
  /** Local mode: every request comes from the same administrator, so no row has to be hidden. */
  singleUser?: boolean;
  /** Called for a schema whose service cannot log in to the database with its own role. */
  onSharedLogin?: (schema: string) => void;
  /** Called after every RPC. */
  observe: (observation: Observation) => void;
  /** Starts the spans of this service. */
  tracer: Tracer;
  /** The source of randomness for the jitter of retries; Math.random when absent. */
  random?: Random;
  metrics: Metrics;
  /** Keeps space on the disk of the database for actions of administrators; absent for external databases. */
  reservedSpace?: Pick<ReservedSpace, 'use'> | undefined;
}

/** A running service. Other services call its endpoint; the process starts and stops it as a module. */
export interface OpenService extends Module {
  endpoint: Endpoint;
  /** Parts without which the service is degraded. */
  optionalParts?: readonly { name: string; check(): Promise<void> }[];
}
