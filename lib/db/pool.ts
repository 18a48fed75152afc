import pg from 'pg';
import { asConnectFailure } from './failure.ts';
import type { DatabaseLogins } from './logins.ts';
import { type RoleKind, roleOf } from './roles.ts';

export interface PoolOptions {
  url: string;
  /** The schema of this service. Its roles may only read and write rows in this schema. */
  schema: string;
  /** The logins of the roles. Without them, the user of the URL switches to the roles. */
  logins?: DatabaseLogins | undefined;
  /** Called when an idle connection fails. */
  onIdleError: (error: Error) => void;
  /** A statement fails when the server has not answered for this long. Default: ANSWER_TIMEOUT_MS. */
  answerTimeoutMs?: number | undefined;
}

export interface Pool {
  readonly connections: pg.Pool;
  /** Returns a connection, which the caller must release. Rejects when none can be established or becomes free in time. */
  connect(): Promise<pg.PoolClient>;
  /** Whether the connection has been closed or reset. */
  hasFailed(client: pg.PoolClient): boolean;
  /** Closes all current connections: idle ones at their next use, the others when they are released. */
  dropAll(): void;
  /** Cancels the running statement of a connection. Resolves when the server has received the request. */
  cancel(client: pg.PoolClient): Promise<void>;
  close(): Promise<void>;
}

const STATEMENT_TIMEOUT_MS = 10_000;
/** Longer than the server lets a statement run, so that it passes only when server or network no longer respond. */
const ANSWER_TIMEOUT_MS = 15_000;

const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, Number);
types.setTypeParser(pg.types.builtins.JSON, (text) => text);

/** Opens a connection pool for one role of a schema. Connections are opened on demand; one stays open. */
export function openPool(options: PoolOptions, kind: RoleKind, max: number): Pool {
  const { url, schema, logins, answerTimeoutMs = ANSWER_TIMEOUT_MS } = options;
  const role = roleOf(schema, kind);
  const settings = {
    search_path: schema,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
    // Plain index scans mark dead entries of a queue's index and skip them later. Bitmap scans would visit all of them
    // until the next vacuum.
    enable_bitmapscan: 'off',
  };
  const shared = {
    connectionString: logins?.[kind] ?? url,
    types,
    connectionTimeoutMillis: 5_000,
    query_timeout: answerTimeoutMs,
    keepAlive: true,
  };
  const name = kind === 'service' ? `ahs-${schema}` : `ahs-${schema}-${kind}`;
  const connections = new pg.Pool({
    ...shared,
    max,
    // PostgreSQL may accept no connection while its disk is full, and reads must work then.
    min: 1,
    options: optionsOf(logins ? settings : { role, ...settings }),
    application_name: name,
  });
  // Cancelling uses a separate connection because it must work when the pool is exhausted. The server requires the same
  // login for it, independent of the current role.
  const canceller = new pg.Pool({
    ...shared,
    max: 1,
    idleTimeoutMillis: 1_000,
    application_name: `${name}-cancel`,
  });
  const failed = new WeakSet<pg.PoolClient>();
  let current = new WeakSet<pg.PoolClient>();
  // A pool counts as closed before its connections are closed. Failures of those connections are ignored.
  let closing = false;
  const onIdleError = (error: Error) => {
    if (!closing) options.onIdleError(error);
  };
  for (const one of [connections, canceller]) {
    one.on('error', onIdleError);
    // The statement of a connection in use reports the failure. Without a listener, the event would end the process.
    one.on('connect', (client) => client.on('error', () => failed.add(client)));
  }
  connections.on('connect', (client) => current.add(client));
  return {
    connections,
    async connect() {
      for (;;) {
        const client = await connections.connect().catch((error: unknown) => {
          throw asConnectFailure(error);
        });
        if (current.has(client)) return client;
        client.release(true);
      }
    },
    hasFailed: (client) => failed.has(client),
    dropAll() {
      current = new WeakSet();
    },
    async cancel(client) {
      await canceller.query('select pg_cancel_backend($1)', [backendOf(client)]).catch(() => {});
    },
    async close() {
      closing = true;
      await Promise.all([connections.end(), canceller.end()]);
    },
  };
}

function optionsOf(settings: Readonly<Record<string, string | number>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');
}

/** Returns the process id of the server backend. node-postgres has it, but its types do not declare it. */
function backendOf(client: pg.PoolClient): number {
  return (client as pg.PoolClient & { processID: number }).processID;
}
