import { Refusal } from '../errors.ts';
import { type CounterMetric, type HistogramMetric, type Metrics, SECONDS } from '../metrics.ts';
import { overloadRefusals } from '../overload.ts';
import type { Span, SpanKind, Tracer } from '../telemetry/tracer.ts';
import type { Trace } from '../trace.ts';
import { sqlState } from './failure.ts';

/** Records metrics and spans of the statements of a schema. */
export interface SchemaObserver {
  /** Runs and times a statement. With a trace, it also records a span. */
  statement<Result>(name: string, trace: Trace | undefined, work: () => Promise<Result>): Promise<Result>;
  /** Starts a span. Returns undefined when it would not be recorded. */
  begin(name: string, trace: Trace | undefined, kind?: SpanKind): Span | undefined;
  /** Starts the root span of a new trace for work that several traces share. */
  beginShared(name: string, members: readonly Trace[]): Span | undefined;
  /** Returns the metrics of a group and registers a gauge that reads `waiting` at each scrape. */
  group(name: string, waiting: () => number): GroupMetrics;
}

interface GroupMetrics {
  sizes: HistogramMetric;
  /** Items that the group refused because too many waited. */
  refusals: CounterMetric;
}

interface SchemaObserverOptions {
  schema: string;
  tracer: Tracer;
  metrics: Metrics;
}

const SIZES = [1, 4, 16, 64];
/** Statements with series of their own, of all schemas. Later ones share the labels `other`. */
const MAX_STATEMENTS = 220;

/** Traces contain statement names only, never SQL or values. */
export function createSchemaObserver({ schema, tracer, metrics }: SchemaObserverOptions): SchemaObserver {
  const durations = metrics.distribution({
    name: 'ahs_db_statement_duration_seconds',
    help: 'Duration of SQL statements by name, including the wait for a connection.',
    labels: ['schema', 'statement'],
    detail: 'statements',
    limit: MAX_STATEMENTS,
    buckets: SECONDS,
  });
  const sizes = metrics.histogram({
    name: 'ahs_db_group_size',
    help: 'Number of callers that shared a batch.',
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
          help: 'Number of callers that wait for a batch.',
          labels: ['schema', 'group'],
        },
        (set) => set(waiting(), schema, name),
      );
      return { sizes: sizes.labels(schema, name), refusals: overloadRefusals(metrics, name) };
    },
  };
}

/** Returns the name of a failure in a trace: its code in the error table or its SQLSTATE. */
export function failureOf(error: unknown): string {
  return error instanceof Refusal ? error.code : (sqlState(error) ?? 'INTERNAL');
}

/** The readable state of a connection pool. */
type PoolState = { readonly totalCount: number; readonly idleCount: number; readonly waitingCount: number };

export function reportPools(pools: readonly PoolState[], schema: string, metrics: Metrics): void {
  const sum = (count: (pool: PoolState) => number) => pools.reduce((total, pool) => total + count(pool), 0);
  metrics.gauge(
    {
      name: 'ahs_db_pool_connections',
      help: 'Number of database connections by state: busy or idle.',
      labels: ['schema', 'state'],
    },
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
    {
      name: 'ahs_db_pool_waiting',
      help: 'Number of statements that wait for a connection.',
      labels: ['schema'],
    },
    (set) =>
      set(
        sum((pool) => pool.waitingCount),
        schema,
      ),
  );
}
