import { rowsOn } from '../../support/sql.ts';

/**
 * Runners and channel workers report periodically, requests change the time of the last visit, and the audit log has
 * refused operations as well.
 */
const CHANGED_MEANWHILE = [
  ...['agents.runners', 'deployments.channel_workers'],
  ...['auth.users', 'auth.acts', 'auth.act_head'],
];

/** The number of rows and a digest of all rows by table, for every table of the database. */
export async function storedRows(databaseUrl: string): Promise<Record<string, string>> {
  const tables = await rowsOn<{ name: string }>(
    databaseUrl,
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
      where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')
      order by name`,
  );
  const parts = tables
    .filter(({ name }) => !CHANGED_MEANWHILE.includes(name))
    .map(
      ({ name }) =>
        `select '${name}' as name, count(*) || ' rows, ' || coalesce(md5(string_agg(t::text, '|' order by t::text)), '') as rows
           from ${name} t`,
    );
  const rows = await rowsOn<{ name: string; rows: string }>(databaseUrl, parts.join(' union all '));
  return Object.fromEntries(rows.map(({ name, rows }) => [name, rows]));
}
