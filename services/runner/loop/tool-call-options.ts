import type { Clock } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import type { Tracer } from '../../../lib/telemetry/tracer.ts';
import type { LeasedTurns } from '../queue/leased-turns.ts';
import type { Reporter } from '../queue/reporter.ts';
import type { RunnerMetrics } from './metrics.ts';

export interface ToolCallOptions {
  clock: Clock;
  log: Log;
  tracer: Tracer;
  metrics: RunnerMetrics;
  turns: Pick<LeasedTurns, 'lose'>;
  reporter: Pick<Reporter, 'reportNow' | 'commit'>;
  toolTimeoutSeconds: number;
}

/** The options of one step. */
export interface StepOptions extends ToolCallOptions {
  environmentId: string;
}
