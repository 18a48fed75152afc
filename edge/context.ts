import type { McpServerFactory } from '@modelcontextprotocol/server';
import type { Bus } from '../lib/bus/bus.ts';
import type { Clock } from '../lib/clock.ts';
import type { DeriveKey } from '../lib/derived-key.ts';
import type { EffectiveSetting } from '../lib/env/effective.ts';
import type { PeerSealer } from '../lib/grpc/sealed-for-peer.ts';
import type { Ids } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { Backend, Readiness } from '../lib/modules.ts';
import type { Tracer } from '../lib/telemetry/tracer.ts';
import type { Clients } from './clients.ts';

/** The dependencies of the edge. */
export interface EdgeContext {
  clock: Clock;
  ids: Ids;
  log: Log;
  clients: Clients;
  /** Gets the hints that a user has changed or a credential has ended. */
  bus: Pick<Bus, 'subscribe'>;
  /** Encrypts secret members of calls. */
  sealer: PeerSealer;
  /** The keys of values that clients keep for the edge. Every edge has the same ones. */
  deriveKey: DeriveKey;
  /** Runs the health checks of the process. */
  readiness(): Promise<Readiness[]>;
  /** Which part fills which role. */
  backends: readonly Backend[];
  /** The settings of this process, without secrets. */
  configuration: readonly EffectiveSetting[];
  metrics: Metrics;
  /** Creates the spans of requests. */
  tracer: Tracer;
  /** Replaces the server of MCP requests, to test their handler with other tools. */
  mcpServerFactory?: McpServerFactory | undefined;
}
