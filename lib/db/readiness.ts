import type pg from 'pg';
import { isStorageFull } from '../errors.ts';
import { DegradedError } from '../modules.ts';
import { sqlState } from './failure.ts';

/** How long a database counts as full at least after it has refused a write. */
const FULL_MS = 2_000;
const DISK_FULL = '53100';

const NO_SPACE = 'The database has no space left. Reads work.';

const STATE = {
  name: 'db.ping',
  text: `select current_setting('transaction_read_only') = 'on' as "isReadOnly", pg_is_in_recovery() as "isStandby"`,
};

/** Writes a temporary file of a few hundred KiB next to the tables, because the rows exceed work_mem. */
const USE_SPACE = `begin; set local work_mem = '64kB'; select count(*) from generate_series(1, 20000); rollback`;

/** Checks whether the database of a pool can be written. */
export interface DatabaseReadiness {
  /** Notes whether a failure shows that the database is full. Returns the failure. */
  observed(failure: unknown): unknown;
  /**
   * Rejects with the SQLSTATE of a read-only server when the server accepts no writes: after a failover the connections
   * would stay read-only. Rejects with DegradedError while the server has no space left, because reads work. Calls
   * `discard` when the connection must not be reused.
   */
  check(client: pg.PoolClient, discard: () => void): Promise<void>;
  /** Returns the error of a check that ended with this failure: PostgreSQL may accept no connections on a full disk. */
  errorOf(failure: unknown): unknown;
}

export function createDatabaseReadiness(): DatabaseReadiness {
  /** The time of the last refused write; undefined after the server has had space again. */
  let fullAt: number | undefined;

  return {
    observed(failure) {
      if (isStorageFull(failure)) fullAt = performance.now();
      return failure;
    },
    errorOf: (failure) => (isStorageFull(failure) ? new DegradedError(NO_SPACE) : failure),
    async check(client, discard) {
      const { rows } = await client.query<{ isReadOnly: boolean; isStandby: boolean }>(STATE);
      const { isReadOnly = false, isStandby = false } = rows[0] ?? {};
      if (isReadOnly || isStandby) throw new ReadOnlyServer(isStandby ? 'a standby' : 'a read-only server');
      if (fullAt === undefined) return;
      if (performance.now() - fullAt < FULL_MS || !(await hasSpace(client, discard)))
        throw new DegradedError(NO_SPACE);
      fullAt = undefined;
    },
  };
}

/** Has the effect of a refused write: the pools drop their connections. */
class ReadOnlyServer extends Error {
  readonly code = '25006';
}

async function hasSpace(client: pg.PoolClient, discard: () => void): Promise<boolean> {
  try {
    await client.query(USE_SPACE);
    return true;
  } catch (error) {
    await client.query('rollback').catch(discard);
    if (sqlState(error) === undefined) throw error;
    return sqlState(error) !== DISK_FULL;
  }
}
