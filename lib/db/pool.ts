import pg from 'pg';
import type { Logins } from './logins.ts';
import { type RoleKind, roleOf } from './roles.ts';

export interface PoolOptions {
  url: string;
  /** The schema of this service; it sees no other, and its roles may do no more than read and write rows there. */
  schema: string;
  /** How to log in as these roles; without it, whoever the URL names acts as them. */
  logins?: Logins | undefined;
  /** Called for connections that fail while nobody uses them. */
  onIdleError: (error: Error) => void;
}

export interface Pool {
  readonly connections: pg.Pool;
  /** Cancels what a connection is asked at the moment. Resolves when the server has been told. */
  cancel(client: pg.PoolClient): Promise<void>;
  close(): Promise<void>;
}

const STATEMENT_TIMEOUT_MS = 10_000;

const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, Number);
types.setTypeParser(pg.types.builtins.JSON, (text) => text);

/** Connections of a schema's service, in one of its roles. None is made before it is needed. */
export function openPool(options: PoolOptions, kind: RoleKind, max: number): Pool {
  const { url, schema, logins } = options;
  const role = roleOf(schema, kind);
  const settings = {
    search_path: schema,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
    // Entries of rows that have moved on are marked by plain index scans and skipped from then on; a bitmap scan
    // of an index over a queue would visit them all until the next vacuum.
    enable_bitmapscan: 'off',
  };
  const shared = {
    connectionString: logins?.[kind] ?? url,
    types,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
  };
  const name = kind === 'service' ? `ahs-${schema}` : `ahs-${schema}-${kind}`;
  const connections = new pg.Pool({
    ...shared,
    max,
    options: optionsOf(logins ? settings : { role, ...settings }),
    application_name: name,
  });
  // Cancelling needs a connection of its own: it must work when the pool is exhausted. Only who has logged in as the
  // same may cancel, whatever role either of them acts in.
  const canceller = new pg.Pool({
    ...shared,
    max: 1,
    idleTimeoutMillis: 1_000,
    application_name: `${name}-cancel`,
  });
  // A pool counts as closed before its connections are; what becomes of those is nobody's trouble any more.
  let closing = false;
  const onIdleError = (error: Error) => {
    if (!closing) options.onIdleError(error);
  };
  for (const one of [connections, canceller]) {
    one.on('error', onIdleError);
    // While somebody uses a connection, its statement tells of the failure; unheard, the event would end the process.
    one.on('connect', (client) => client.on('error', () => {}));
  }
  return {
    connections,
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

/** The server process behind a connection. node-postgres keeps it, but its types do not say so. */
function backendOf(client: pg.PoolClient): number {
  return (client as pg.PoolClient & { processID: number }).processID;
}
