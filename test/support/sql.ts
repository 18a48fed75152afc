import pg from 'pg';

/** Pools by URL: tests query often, and each connection costs a server process and a login. Idle connections close after 1 s. */
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

/** Runs SQL as the user of the URL. */
export async function runOn(url: string, sql: string): Promise<void> {
  await rowsOn(url, sql);
}

/** Returns the column `count` of the first row. */
export async function countOn(url: string, sql: string): Promise<number> {
  const [row] = await rowsOn<{ count: string }>(url, sql);
  return Number(row?.count);
}

export async function rowsOn<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  return (await poolOf(url).query<Row>(sql)).rows;
}

/** Opens a connection of its own, for a transaction that lasts over several statements. */
export async function openConnection(url: string): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}
