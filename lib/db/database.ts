import pg from 'pg';
import { refuse } from '../errors.ts';
import { asRefusal, isTransient } from './failure.ts';

/** One visible piece of SQL. The name is that of its prepared statement, and later of its span and metric. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

export function statement(name: string, text: string): Statement {
  return { name, text };
}

/** Runs statements. Rows come back as plain objects; `json` columns as the text they hold, `bigint` as number. */
export interface Session {
  rows<Row extends object>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>;
  /** How many rows were changed. */
  change(statement: Statement, values?: readonly unknown[]): Promise<number>;
}

export interface ReadOptions {
  /** Aborting it cancels the statement in the server. */
  signal?: AbortSignal;
}

export interface Database extends Session {
  rows<Row extends object>(
    statement: Statement,
    values?: readonly unknown[],
    options?: ReadOptions,
  ): Promise<Row[]>;
  /** Commits when `work` resolves. Repeated from the start, as single statements are, when a deadlock chose it as its victim. */
  transaction<Result>(work: (tx: Session) => Promise<Result>): Promise<Result>;
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
  pool.on('error', onIdleError);
  canceller.on('error', onIdleError);

  async function cancellable<Row extends object>(
    query: Statement,
    values: readonly unknown[],
    signal: AbortSignal,
  ): Promise<Row[]> {
    const client = await pool.connect();
    let cancelled: Promise<unknown> | undefined;
    const cancel = () => {
      cancelled = canceller.query('select pg_cancel_backend($1)', [backendOf(client)]).catch(() => {});
    };
    try {
      if (signal.aborted) throw refuse('CANCELLED', 'the caller left before the answer');
      signal.addEventListener('abort', cancel, { once: true });
      return await run<Row>(client, query, values);
    } finally {
      signal.removeEventListener('abort', cancel);
      // The connection goes back only when the cancel request has been served, or it would hit the next user's statement.
      await cancelled;
      client.release();
    }
  }

  async function attempt<Result>(work: (tx: Session) => Promise<Result>): Promise<Result> {
    const client = await pool.connect();
    let broken: Error | undefined;
    try {
      await client.query('begin');
      const result = await work(sessionOn(client));
      await client.query('commit');
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
    async rows(query, values = [], { signal } = {}) {
      try {
        return signal
          ? await cancellable(query, values, signal)
          : await repeated(() => run(pool, query, values));
      } catch (error) {
        throw asRefusal(error, signal);
      }
    },
    async change(query, values = []) {
      try {
        return await repeated(() => change(pool, query, values));
      } catch (error) {
        throw asRefusal(error);
      }
    },
    async transaction(work) {
      try {
        return await repeated(() => attempt(work));
      } catch (error) {
        throw asRefusal(error);
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

function sessionOn(client: pg.PoolClient): Session {
  return {
    rows: (query, values = []) => run(client, query, values),
    change: (query, values = []) => change(client, query, values),
  };
}

/** The server process behind a connection. node-postgres keeps it, but its types do not say so. */
function backendOf(client: pg.PoolClient): number {
  return (client as pg.PoolClient & { processID: number }).processID;
}
