/**
 * Rows turned into one array per column: a statement for any number of rows stays one prepared statement. It
 * takes them apart by `select unnest($1), unnest($2) …`, which goes row by row; `from unnest($1, $2 …)` would
 * first fill a store for each column.
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

/** Parts texts in one parameter: as a control character it cannot stand inside of JSON. */
const RECORD_SEPARATOR = '\x1e';

/**
 * JSON texts as one parameter, to be taken apart by `TEXTS`. An array parameter would have every quote escaped
 * here and read back there. The empty text stands for null.
 */
export function joined(texts: readonly string[]): string {
  return texts.join(RECORD_SEPARATOR);
}

/** The SQL that makes a `text[]` of a parameter written by `joined`. */
export const TEXTS = (place: string) => `string_to_array(${place}::text, e'\\x1e', '')`;
