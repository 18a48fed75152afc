import type { Clock } from '../lib/clock.ts';
import type { EffectiveSetting } from '../lib/env/effective.ts';
import type { Ids } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { Readiness, StandIn } from '../lib/modules.ts';
import type { Tracer } from '../lib/telemetry/tracer.ts';
import type { Clients } from './clients.ts';

/** What the edge is handed when it is opened. */
export interface EdgeContext {
  clock: Clock;
  ids: Ids;
  log: Log;
  clients: Clients;
  /** How every part of the process is doing. */
  readiness(): Promise<Readiness[]>;
  /** Which part fills which role. */
  standIns: readonly StandIn[];
  /** The settings of this process, without secrets. */
  configuration: readonly EffectiveSetting[];
  metrics: Metrics;
  /** Begins the spans of requests. */
  tracer: Tracer;
}
