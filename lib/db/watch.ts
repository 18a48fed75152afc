import { Refusal } from '../errors.ts';
import { type Metrics, type Observed, SECONDS } from '../metrics.ts';
import type { Span, SpanKind, Tracer } from '../telemetry/tracer.ts';
import type { Trace } from '../trace.ts';
import { sqlState } from './failure.ts';

/** What becomes visible of a schema's work: how long each statement takes, and where it stands in a trace. */
export interface Watch {
  /** Runs and times it. It has a span where it belongs to a trace. */
  statement<Result>(name: string, trace: Trace | undefined, work: () => Promise<Result>): Promise<Result>;
  /** Undefined where nobody would see it. */
  begin(name: string, trace: Trace | undefined, kind?: SpanKind): Span | undefined;
  /** The root of a trace of its own, for what is done for several at once. */
  beginShared(name: string, members: readonly Trace[]): Span | undefined;
  /** How many come together in one run of a group. `waiting` is read when somebody looks. */
  group(name: string, waiting: () => number): Observed;
}

export interface WatchOptions {
  schema: string;
  tracer: Tracer;
  metrics: Metrics;
}

const SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/** Names only: neither SQL nor values ever reach a trace. */
export function watchSchema({ schema, tracer, metrics }: WatchOptions): Watch {
  const durations = metrics.histogram({
    name: 'ahs_db_statement_duration_seconds',
    help: 'SQL statements, by name, with their wait for a connection.',
    labels: ['schema', 'statement'],
    buckets: SECONDS,
  });
  const sizes = metrics.histogram({
    name: 'ahs_db_group_size',
    help: 'Callers that shared one run of a group.',
    labels: ['schema', 'group'],
    buckets: SIZES,
  });
  const attributes = { 'db.system.name': 'postgresql', 'db.namespace': schema };

  function begin(name: string, parent: Trace | undefined, kind: SpanKind = 'client'): Span | undefined {
    return parent && !tracer.silent ? tracer.begin(name, { kind, parent, attributes }) : undefined;
  }

  return {
    begin,
    beginShared: (name, members) =>
      members.length === 0 ? undefined : tracer.beginShared(name, members, { attributes }),
    async statement(name, trace, work) {
      const startedAt = performance.now();
      const span = begin(name, trace);
      try {
        const result = await work();
        span?.end();
        return result;
      } catch (error) {
        span?.end(failureOf(error));
        throw error;
      } finally {
        durations.labels(schema, name).observe((performance.now() - startedAt) / 1_000);
      }
    },
    group(name, waiting) {
      metrics.gauge(
        {
          name: 'ahs_db_group_waiting',
          help: 'Callers that no run has taken yet.',
          labels: ['schema', 'group'],
        },
        (set) => set(waiting(), schema, name),
      );
      return sizes.labels(schema, name);
    },
  };
}

/** How a failure is called in a trace: by the code of the error table, or by its SQLSTATE. */
export function failureOf(error: unknown): string {
  return error instanceof Refusal ? error.code : (sqlState(error) ?? 'INTERNAL');
}

/** What of a connection pool can be read at any time. */
type PoolState = { readonly totalCount: number; readonly idleCount: number; readonly waitingCount: number };

export function showPools(pools: readonly PoolState[], schema: string, metrics: Metrics): void {
  const sum = (count: (pool: PoolState) => number) => pools.reduce((total, pool) => total + count(pool), 0);
  metrics.gauge(
    { name: 'ahs_db_pool_connections', help: 'Connections, by what they do.', labels: ['schema', 'state'] },
    (set) => {
      set(
        sum((pool) => pool.totalCount - pool.idleCount),
        schema,
        'busy',
      );
      set(
        sum((pool) => pool.idleCount),
        schema,
        'idle',
      );
    },
  );
  metrics.gauge(
    { name: 'ahs_db_pool_waiting', help: 'Statements that wait for a connection.', labels: ['schema'] },
    (set) =>
      set(
        sum((pool) => pool.waitingCount),
        schema,
      ),
  );
}
