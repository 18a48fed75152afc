import pg from 'pg';

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
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}
