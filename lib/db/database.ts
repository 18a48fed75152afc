import type pg from 'pg';
import { type Clock, systemClock } from '../clock.ts';
import { refuse } from '../errors.ts';
import { createMetrics, type Metrics } from '../metrics.ts';
import { silentTracer, type Tracer } from '../telemetry/tracer.ts';
import type { Trace } from '../trace.ts';
import { openConnections } from './connections.ts';
import { databaseRefusal } from './failure.ts';
import { createSchemaObserver, failureOf, type SchemaObserver } from './observer.ts';
import type { PoolOptions } from './pool.ts';
import { createDatabaseReadiness } from './readiness.ts';
import { withRepetition } from './repetition.ts';
import type { Viewer } from './viewer.ts';

export type { Viewer } from './viewer.ts';

/** A named SQL statement. Its prepared statement, span and metric have the same name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

const declared = new Map<string, string>();

/** PostgreSQL cuts longer names of prepared statements, so that two could become one. */
export const MAX_STATEMENT_NAME = 63;

/** Declares a statement. Throws when the name is too long or already used for another text. */
export function statement(name: string, text: string): Statement {
  if (name.length > MAX_STATEMENT_NAME) throw new Error(`the name ${name} of a statement is too long`);
  const known = declared.get(name);
  if (known !== undefined && known !== text) throw new Error(`two statements have the name ${name}`);
  declared.set(name, text);
  return { name, text };
}

/** Returns every statement that this process has declared so far. */
export function declaredStatements(): Statement[] {
  return Array.from(declared, ([name, text]) => ({ name, text }));
}

/** Runs statements. Rows are plain objects; `json` columns are returned as text and `bigint` columns as number. */
export interface DatabaseSession {
  rows<Row extends object>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>;
  /** Returns the number of changed rows. */
  change(statement: Statement, values?: readonly unknown[]): Promise<number>;
}

export interface WriteOptions {
  /** The trace that the statement belongs to. Without a trace it has no span. */
  trace?: Trace | undefined;
  /**
   * The user for whom the statement runs. Row-level security hides the rows of other users. Work that belongs to no
   * single user, or that was authorized before, runs as the service, without a viewer.
   */
  viewer?: Viewer | undefined;
}

/** A handler's `Call` is assignable. */
export interface ReadOptions extends WriteOptions {
  /** Aborting the signal cancels the statement in the server. */
  signal?: AbortSignal;
}

export interface Database extends DatabaseSession {
  rows<Row extends object>(
    statement: Statement,
    values?: readonly unknown[],
    options?: ReadOptions,
  ): Promise<Row[]>;
  change(statement: Statement, values?: readonly unknown[], options?: WriteOptions): Promise<number>;
  /** Returns a session whose statements use these options. */
  within(options: WriteOptions): DatabaseSession;
  /**
   * Commits when `work` resolves. Transactions and single statements are repeated from the start after a deadlock or a
   * serialization failure.
   */
  transaction<Result>(
    work: (tx: DatabaseSession) => Promise<Result>,
    options?: WriteOptions,
  ): Promise<Result>;
  /** Metrics and spans of the statements. */
  readonly observer: SchemaObserver;
  /** Rejects when the database does not answer or accepts no writes, with DegradedError when it is full. */
  check(): Promise<void>;
  close(): Promise<void>;
}

interface DatabaseOptions extends PoolOptions {
  /** Local mode: statements for the only user run as the service, without row-level security. */
  singleUser?: boolean | undefined;
  /** The maximum number of connections of the service. The viewer role has a second pool of the same size. */
  pool: number;
  tracer?: Tracer;
  metrics?: Metrics;
  clock?: Clock;
}

export function openDatabase(options: DatabaseOptions): Database {
  const { schema, tracer = silentTracer, metrics = createMetrics(), clock = systemClock } = options;
  const watch = createSchemaObserver({ schema, tracer, metrics });
  const connections = openConnections({ ...options, metrics });

  const readiness = createDatabaseReadiness();
  const refusalOf = (error: unknown, signal?: AbortSignal) =>
    readiness.observed(databaseRefusal(error, signal));
  const effectiveViewer = (viewer: Viewer | undefined) => (options.singleUser ? undefined : viewer);

  /** Runs a statement without a signal. */
  function uncancellable<Result>(
    viewer: Viewer | undefined,
    work: (client: pg.PoolClient) => Promise<Result>,
  ): Promise<Result> {
    return withRepetition(clock, () => connections.run(viewer, ({ client }) => work(client)));
  }

  function cancellable<Row extends object>(
    query: Statement,
    values: readonly unknown[],
    signal: AbortSignal,
    viewer: Viewer | undefined,
  ): Promise<Row[]> {
    const work = () =>
      connections.run(viewer, async ({ client, cancel }) => {
        let cancelled: Promise<unknown> | undefined;
        const onAbort = () => {
          cancelled = cancel();
        };
        try {
          if (signal.aborted) throw refuse('CANCELLED', 'The caller disconnected before the response.');
          signal.addEventListener('abort', onAbort, { once: true });
          return await run<Row>(client, query, values);
        } finally {
          signal.removeEventListener('abort', onAbort);
          // The connection is released after the cancel request is served. Otherwise it could cancel the next caller's statement.
          await cancelled;
        }
      });
    return withRepetition(clock, work, signal);
  }

  function attempt<Result>(
    { trace, viewer }: WriteOptions,
    work: (tx: DatabaseSession) => Promise<Result>,
  ): Promise<Result> {
    return connections.inTransaction(viewer, async ({ client }) => {
      const result = await work(sessionOn(client, watch, trace));
      const { command } = await watch.statement('commit', trace, () => client.query('commit'));
      // The server answers the commit of a failed transaction with a rollback and without an error.
      if (command !== 'COMMIT') throw new Error('the failure of a statement in a transaction was ignored');
      return result;
    });
  }

  const database: Database = {
    observer: watch,
    async rows(query, values = [], { signal, trace, viewer } = {}) {
      try {
        return await watch.statement(query.name, trace, () =>
          signal
            ? cancellable(query, values, signal, effectiveViewer(viewer))
            : uncancellable(effectiveViewer(viewer), (client) => run(client, query, values)),
        );
      } catch (error) {
        throw refusalOf(error, signal);
      }
    },
    async change(query, values = [], { trace, viewer } = {}) {
      try {
        return await watch.statement(query.name, trace, () =>
          uncancellable(effectiveViewer(viewer), (client) => change(client, query, values)),
        );
      } catch (error) {
        throw refusalOf(error);
      }
    },
    within: (options) => ({
      rows: (query, values) => database.rows(query, values, options),
      change: (query, values) => database.change(query, values, options),
    }),
    async transaction(work, { trace, viewer } = {}) {
      const span = watch.begin('transaction', trace, 'internal');
      try {
        const result = await withRepetition(clock, () =>
          attempt({ trace: span?.trace, viewer: effectiveViewer(viewer) }, work),
        );
        span?.end();
        return result;
      } catch (error) {
        const failure = refusalOf(error);
        span?.end(failureOf(failure));
        throw failure;
      }
    },
    async check() {
      try {
        await connections.run(undefined, ({ client, discard }) => readiness.check(client, discard));
      } catch (error) {
        throw readiness.errorOf(databaseRefusal(error));
      }
    },
    async close() {
      await connections.close();
    },
  };
  return database;
}

async function run<Row extends object>(
  client: pg.PoolClient,
  query: Statement,
  values: readonly unknown[],
): Promise<Row[]> {
  return (await client.query<Row>({ ...query, values: [...values] })).rows;
}

async function change(client: pg.PoolClient, query: Statement, values: readonly unknown[]): Promise<number> {
  return (await client.query({ ...query, values: [...values] })).rowCount ?? 0;
}

function sessionOn(client: pg.PoolClient, watch: SchemaObserver, trace: Trace | undefined): DatabaseSession {
  return {
    rows: (query, values = []) => watch.statement(query.name, trace, () => run(client, query, values)),
    change: (query, values = []) => watch.statement(query.name, trace, () => change(client, query, values)),
  };
}
