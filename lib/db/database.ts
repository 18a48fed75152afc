import type pg from 'pg';
import { refuse } from '../errors.ts';
import { createMetrics, type Metrics } from '../metrics.ts';
import { silentTracer, type Tracer } from '../telemetry/tracer.ts';
import type { Trace } from '../trace.ts';
import { asRefusal, isTransient, isUnreachable } from './failure.ts';
import { openPool, type PoolOptions } from './pool.ts';
import { carry, type Viewer } from './viewer.ts';
import { failureOf, showPools, type Watch, watchSchema } from './watch.ts';

export type { Viewer } from './viewer.ts';

/** One visible piece of SQL. The name is that of its prepared statement, of its span and of its metric. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

const declared = new Map<string, string>();

/** Declares a statement. One name is one text: servers and metrics know it by its name. */
export function statement(name: string, text: string): Statement {
  const known = declared.get(name);
  if (known !== undefined && known !== text) throw new Error(`there are two statements named ${name}`);
  declared.set(name, text);
  return { name, text };
}

/** Every statement that this process has declared so far. */
export function declaredStatements(): Statement[] {
  return Array.from(declared, ([name, text]) => ({ name, text }));
}

/** Runs statements. Rows come back as plain objects; `json` columns as the text they hold, `bigint` as number. */
export interface Session {
  rows<Row extends object>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>;
  /** How many rows were changed. */
  change(statement: Statement, values?: readonly unknown[]): Promise<number>;
}

export interface WriteOptions {
  /** What it is done for; without one it has no span. */
  trace?: Trace | undefined;
  /**
   * On whose behalf: the rows of others are not there, whatever the statement asks for. What belongs to no user in
   * particular, is done for many at once or has been allowed before is done as the service itself, without one.
   */
  viewer?: Viewer | undefined;
}

/** A handler's `Call` fits as it is. */
export interface ReadOptions extends WriteOptions {
  /** Aborting it cancels the statement in the server. */
  signal?: AbortSignal;
}

export interface Database extends Session {
  rows<Row extends object>(
    statement: Statement,
    values?: readonly unknown[],
    options?: ReadOptions,
  ): Promise<Row[]>;
  change(statement: Statement, values?: readonly unknown[], options?: WriteOptions): Promise<number>;
  /** Runs statements as a part of a trace, and on behalf of somebody. */
  within(options: WriteOptions): Session;
  /** Commits when `work` resolves. Repeated from the start, as single statements are, when a deadlock chose it as its victim. */
  transaction<Result>(work: (tx: Session) => Promise<Result>, options?: WriteOptions): Promise<Result>;
  /** What is seen of its work. */
  readonly watch: Watch;
  /** Fails when the database does not answer. */
  check(): Promise<void>;
  close(): Promise<void>;
}

export interface DatabaseOptions extends PoolOptions {
  /** There is nobody to hide anything from: what is done on behalf of the one user is done as the service itself. */
  oneUser?: boolean | undefined;
  /** Connections at most; as many more serve what is done on behalf of somebody. */
  pool: number;
  tracer?: Tracer;
  metrics?: Metrics;
}

const ATTEMPTS = 4;

export function openDatabase(options: DatabaseOptions): Database {
  const { schema, tracer = silentTracer, metrics = createMetrics() } = options;
  const watch = watchSchema({ schema, tracer, metrics });
  // Connections that carry a viewer are others than those of the service: nothing it does waits for their change.
  const own = openPool(options, 'service', options.pool);
  const lent = openPool(options, 'viewer', options.pool);
  showPools([own.connections, lent.connections], schema, metrics);

  const carriedOf = (viewer: Viewer | undefined) => (options.oneUser ? undefined : viewer);

  /** Lends a connection to some work, which says when it is of no use any more. */
  async function lend<Result>(viewer: Viewer | undefined, work: Work<Result>): Promise<Result> {
    const client = await (viewer ? lent : own).connections.connect();
    let broken: Error | undefined;
    const spoil = (failure: Error) => {
      broken = failure;
    };
    try {
      if (viewer) await carry(client, viewer);
      return await work(client, spoil);
    } catch (error) {
      // The server says that it goes before the connection does: until then it would be handed to the next one.
      if (error instanceof Error && isUnreachable(error)) spoil(error);
      throw error;
    } finally {
      client.release(broken);
    }
  }

  /** Runs a statement that nobody cancels. */
  function alone<Result>(
    viewer: Viewer | undefined,
    work: (executor: Executor) => Promise<Result>,
  ): Promise<Result> {
    return repeated(() => (viewer ? lend(viewer, work) : work(own.connections)));
  }

  function cancellable<Row extends object>(
    query: Statement,
    values: readonly unknown[],
    signal: AbortSignal,
    viewer: Viewer | undefined,
  ): Promise<Row[]> {
    return lend(viewer, async (client) => {
      let cancelled: Promise<unknown> | undefined;
      const cancel = () => {
        cancelled = (viewer ? lent : own).cancel(client);
      };
      try {
        if (signal.aborted) throw refuse('CANCELLED', 'the caller left before the answer');
        signal.addEventListener('abort', cancel, { once: true });
        return await run<Row>(client, query, values);
      } finally {
        signal.removeEventListener('abort', cancel);
        // The connection goes back only when the cancel request has been served, or it would hit the next user's statement.
        await cancelled;
      }
    });
  }

  function attempt<Result>(
    { trace, viewer }: WriteOptions,
    work: (tx: Session) => Promise<Result>,
  ): Promise<Result> {
    return lend(viewer, async (client, spoil) => {
      try {
        await client.query('begin');
        const result = await work(sessionOn(client, watch, trace));
        await watch.statement('commit', trace, () => client.query('commit'));
        return result;
      } catch (error) {
        await client.query('rollback').catch(spoil);
        throw error;
      }
    });
  }

  const database: Database = {
    watch,
    async rows(query, values = [], { signal, trace, viewer } = {}) {
      try {
        return await watch.statement(query.name, trace, () =>
          signal
            ? cancellable(query, values, signal, carriedOf(viewer))
            : alone(carriedOf(viewer), (executor) => run(executor, query, values)),
        );
      } catch (error) {
        throw asRefusal(error, signal);
      }
    },
    async change(query, values = [], { trace, viewer } = {}) {
      try {
        return await watch.statement(query.name, trace, () =>
          alone(carriedOf(viewer), (executor) => change(executor, query, values)),
        );
      } catch (error) {
        throw asRefusal(error);
      }
    },
    within: (options) => ({
      rows: (query, values) => database.rows(query, values, options),
      change: (query, values) => database.change(query, values, options),
    }),
    async transaction(work, { trace, viewer } = {}) {
      const span = watch.begin('transaction', trace, 'internal');
      try {
        const result = await repeated(() => attempt({ trace: span?.trace, viewer: carriedOf(viewer) }, work));
        span?.end();
        return result;
      } catch (error) {
        const failure = asRefusal(error);
        span?.end(failureOf(failure));
        throw failure;
      }
    },
    async check() {
      await database.rows(PING);
    },
    async close() {
      await Promise.all([own.close(), lent.close()]);
    },
  };
  return database;
}

type Work<Result> = (client: pg.PoolClient, spoil: (failure: Error) => void) => Promise<Result>;

const PING = statement('db.ping', 'select 1');

type Executor = Pick<pg.Pool, 'query'> | pg.PoolClient;

async function run<Row extends object>(
  executor: Executor,
  query: Statement,
  values: readonly unknown[],
): Promise<Row[]> {
  return (await executor.query<Row>({ ...query, values: [...values] })).rows;
}

async function change(executor: Executor, query: Statement, values: readonly unknown[]): Promise<number> {
  return (await executor.query({ ...query, values: [...values] })).rowCount ?? 0;
}

/** What the server has undone as a whole, because it stood in the way of another, is done again. */
async function repeated<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (tries === ATTEMPTS || !isTransient(error)) throw error;
    }
  }
}

function sessionOn(client: pg.PoolClient, watch: Watch, trace: Trace | undefined): Session {
  return {
    rows: (query, values = []) => watch.statement(query.name, trace, () => run(client, query, values)),
    change: (query, values = []) => watch.statement(query.name, trace, () => change(client, query, values)),
  };
}
