/**
 * Rows turned into one array per column, as `unnest` takes them: a statement for any number of rows
 * stays one prepared statement.
 */
export function columns<Row>(
  rows: readonly Row[],
  pick: (row: Row) => readonly unknown[],
  width: number,
): unknown[][] {
  const arrays: unknown[][] = Array.from({ length: width }, () => []);
  for (const row of rows) {
    const values = pick(row);
    for (let i = 0; i < width; i++) arrays[i]?.push(values[i]);
  }
  return arrays;
}
