import type pg from 'pg';
import type { Metrics } from '../metrics.ts';
import { asStatementFailure, connectionEffect } from './failure.ts';
import { reportPools } from './observer.ts';
import { openPool, type PoolOptions } from './pool.ts';
import { setViewer, type Viewer } from './viewer.ts';

interface ConnectionsOptions extends PoolOptions {
  /** The maximum number of connections of the service. The viewer role has a second pool of the same size. */
  pool: number;
  metrics: Metrics;
}

/** A connection in use. */
interface Connection {
  readonly client: pg.PoolClient;
  /** Cancels the running statement. Resolves when the server has received the request. */
  cancel(): Promise<void>;
  /** Returns the failure of the table for an error on this connection, or the error itself. */
  failureOf(error: unknown): unknown;
  /** Drops the connection when it is released. */
  discard(): void;
}

/** The connections of one service. */
export function openConnections(options: ConnectionsOptions) {
  // Viewer connections have a pool of their own, so that statements of the service never wait for a change of viewer.
  const servicePool = openPool(options, 'service', options.pool);
  const viewerPool = openPool(options, 'viewer', options.pool);
  const pools = [servicePool, viewerPool];
  reportPools(
    pools.map((pool) => pool.connections),
    options.schema,
    options.metrics,
  );

  /** Runs `work` with a connection, and drops the connection after a failure when the table of failures says so. */
  async function run<Result>(
    viewer: Viewer | undefined,
    work: (connection: Connection) => Promise<Result>,
  ): Promise<Result> {
    const pool = viewer ? viewerPool : servicePool;
    const client = await pool.connect();
    let isDropped = false;
    const connection: Connection = {
      client,
      cancel: () => pool.cancel(client),
      failureOf: (error) => asStatementFailure(error, pool.hasFailed(client)),
      discard: () => {
        isDropped = true;
      },
    };
    try {
      if (viewer) await setViewer(client, viewer);
      return await work(connection);
    } catch (error) {
      const failure = connection.failureOf(error);
      const effect = connectionEffect(failure);
      isDropped ||= effect !== 'kept';
      if (effect === 'all dropped') for (const one of pools) one.dropAll();
      throw failure;
    } finally {
      client.release(isDropped);
    }
  }

  /** Commits when `work` resolves, and rolls back when it rejects. */
  function inTransaction<Result>(
    viewer: Viewer | undefined,
    work: (connection: Connection) => Promise<Result>,
  ): Promise<Result> {
    return run(viewer, async (connection) => {
      const { client } = connection;
      await client.query('begin');
      try {
        return await work(connection);
      } catch (error) {
        const failure = connection.failureOf(error);
        // The server rolls back when the connection is dropped.
        if (connectionEffect(failure) === 'kept') await client.query('rollback').catch(connection.discard);
        throw failure;
      }
    });
  }

  return {
    run,
    inTransaction,
    async close(): Promise<void> {
      await Promise.all(pools.map((pool) => pool.close()));
    },
  };
}
