import pg from 'pg';
import { refuse } from '../errors.ts';
import { createMetrics, type Metrics } from '../metrics.ts';
import { silentTracer, type Tracer } from '../telemetry/tracer.ts';
import type { Trace } from '../trace.ts';
import { asRefusal, isTransient, isUnreachable } from './failure.ts';
import { failureOf, showPool, type Watch, watchSchema } from './watch.ts';

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
  /** Runs statements as a part of a trace. */
  within(options: WriteOptions): Session;
  /** Commits when `work` resolves. Repeated from the start, as single statements are, when a deadlock chose it as its victim. */
  transaction<Result>(work: (tx: Session) => Promise<Result>, options?: WriteOptions): Promise<Result>;
  /** What is seen of its work. */
  readonly watch: Watch;
  /** Fails when the database does not answer. */
  check(): Promise<void>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  url: string;
  /** The schema this service owns; it sees no other, and its role may do no more than read and write rows there. */
  schema: string;
  /** Connections at most. */
  pool: number;
  /** Called for connections that fail while nobody uses them. */
  onIdleError: (error: Error) => void;
  tracer?: Tracer;
  metrics?: Metrics;
}

const STATEMENT_TIMEOUT_MS = 10_000;
const ATTEMPTS = 4;

const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, Number);
types.setTypeParser(pg.types.builtins.JSON, (text) => text);

export function roleOf(schema: string): string {
  return `ahs_${schema}`;
}

export function openDatabase(options: DatabaseOptions): Database {
  const settings = {
    role: roleOf(options.schema),
    search_path: options.schema,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
    // Entries of rows that have moved on are marked by plain index scans and skipped from then on; a bitmap scan
    // of an index over a queue would visit them all until the next vacuum.
    enable_bitmapscan: 'off',
  };
  const shared = {
    connectionString: options.url,
    types,
    options: Object.entries(settings)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
  };
  const pool = new pg.Pool({ ...shared, max: options.pool, application_name: `ahs-${options.schema}` });
  // Cancelling needs a connection of its own: it must work when the pool is exhausted.
  const canceller = new pg.Pool({
    ...shared,
    max: 1,
    idleTimeoutMillis: 1_000,
    application_name: `ahs-${options.schema}-cancel`,
  });
  // A pool counts as closed before its connections are; what becomes of those is nobody's trouble any more.
  let closing = false;
  const onIdleError = (error: Error) => {
    if (!closing) options.onIdleError(error);
  };
  for (const one of [pool, canceller]) {
    one.on('error', onIdleError);
    // While somebody uses a connection, its statement tells of the failure; unheard, the event would end the process.
    one.on('connect', (client) => client.on('error', () => {}));
  }
  const { schema, tracer = silentTracer, metrics = createMetrics() } = options;
  const watch = watchSchema({ schema, tracer, metrics });
  showPool(pool, schema, metrics);

  async function cancellable<Row extends object>(
    query: Statement,
    values: readonly unknown[],
    signal: AbortSignal,
  ): Promise<Row[]> {
    const client = await pool.connect();
    let cancelled: Promise<unknown> | undefined;
    let broken: Error | undefined;
    const cancel = () => {
      cancelled = canceller.query('select pg_cancel_backend($1)', [backendOf(client)]).catch(() => {});
    };
    try {
      if (signal.aborted) throw refuse('CANCELLED', 'the caller left before the answer');
      signal.addEventListener('abort', cancel, { once: true });
      return await run<Row>(client, query, values);
    } catch (error) {
      if (error instanceof Error && isUnreachable(error)) broken = error;
      throw error;
    } finally {
      signal.removeEventListener('abort', cancel);
      // The connection goes back only when the cancel request has been served, or it would hit the next user's statement.
      await cancelled;
      // The server says that it goes before the connection does: until then it would be handed to the next one.
      client.release(broken);
    }
  }

  async function attempt<Result>(
    trace: Trace | undefined,
    work: (tx: Session) => Promise<Result>,
  ): Promise<Result> {
    const client = await pool.connect();
    let broken: Error | undefined;
    try {
      await client.query('begin');
      const result = await work(sessionOn(client, watch, trace));
      await watch.statement('commit', trace, () => client.query('commit'));
      return result;
    } catch (error) {
      await client.query('rollback').catch((failure: Error) => {
        broken = failure;
      });
      throw error;
    } finally {
      client.release(broken);
    }
  }

  const database: Database = {
    watch,
    async rows(query, values = [], { signal, trace } = {}) {
      try {
        return await watch.statement(query.name, trace, () =>
          signal ? cancellable(query, values, signal) : repeated(() => run(pool, query, values)),
        );
      } catch (error) {
        throw asRefusal(error, signal);
      }
    },
    async change(query, values = [], { trace } = {}) {
      try {
        return await watch.statement(query.name, trace, () => repeated(() => change(pool, query, values)));
      } catch (error) {
        throw asRefusal(error);
      }
    },
    within: (options) => ({
      rows: (query, values) => database.rows(query, values, options),
      change: (query, values) => database.change(query, values, options),
    }),
    async transaction(work, { trace } = {}) {
      const span = watch.begin('transaction', trace, 'internal');
      try {
        const result = await repeated(() => attempt(span?.trace, work));
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
      closing = true;
      await Promise.all([pool.end(), canceller.end()]);
    },
  };
  return database;
}

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

/** The server process behind a connection. node-postgres keeps it, but its types do not say so. */
function backendOf(client: pg.PoolClient): number {
  return (client as pg.PoolClient & { processID: number }).processID;
}
