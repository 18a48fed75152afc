import pg from 'pg';

/**
 * A connection costs a process of the server and a proof of the password, and tests ask again and again. A server
 * that goes, or a database that is dropped, takes the idle ones along.
 */
const pools = new Map<string, pg.Pool>();

function poolOf(url: string): pg.Pool {
  let pool = pools.get(url);
  if (!pool) {
    pool = new pg.Pool({ connectionString: url, idleTimeoutMillis: 1_000, allowExitOnIdle: true });
    pool.on('error', () => {});
    pools.set(url, pool);
  }
  return pool;
}

/** Runs SQL on a server, as the user of the URL. */
export async function runOn(url: string, sql: string): Promise<void> {
  await rowsOn(url, sql);
}

/** The number that a query returns. */
export async function countOn(url: string, sql: string): Promise<number> {
  const [row] = await rowsOn<{ count: string }>(url, sql);
  return Number(row?.count);
}

export async function rowsOn<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  return (await poolOf(url).query<Row>(sql)).rows;
}
