import type { Bus } from './bus/bus.ts';
import type { Counters } from './bus/counters.ts';
import type { Clock } from './clock.ts';
import type { Endpoint, Observation } from './grpc/transport.ts';
import type { Ids } from './ids.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Module } from './modules.ts';
import type { Tracer } from './telemetry/tracer.ts';

/** What every service is handed when it is opened. */
export interface ServiceContext {
  clock: Clock;
  ids: Ids;
  log: Log;
  bus: Bus;
  /** What is counted by all processes together. */
  counters: Counters;
  /** The database server; each service reaches only its own schema there. */
  databaseUrl: string;
  /** The shared secret with which services prove who they are. */
  serviceSecret: string;
  /** Everybody who gets in is the same administrator, from whom nothing has to be hidden. */
  oneUser?: boolean;
  /** Told of a schema whose service cannot log in to the database as itself. */
  sharesLogin?: (schema: string) => void;
  /** Told of every finished call. */
  observe: (observation: Observation) => void;
  /** Begins the spans of this service. */
  tracer: Tracer;
  metrics: Metrics;
}

/** A service that runs: others reach it through the endpoint, the process starts and stops the module. */
export interface OpenService extends Module {
  endpoint: Endpoint;
}
