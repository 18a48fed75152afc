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

/** Parts JSON texts in one parameter: as a control character it cannot stand inside of one. */
const RECORD_SEPARATOR = '\x1e';

/**
 * JSON texts as one parameter, to be taken apart by `JSON_TEXTS`. An array parameter would have every quote
 * escaped here and read back there.
 */
export function joined(texts: readonly string[]): string | null {
  return texts.length === 0 ? null : texts.join(RECORD_SEPARATOR);
}

/** The SQL that makes a `json[]` of a parameter written by `joined`. */
export const JSON_TEXTS = (place: string) => `string_to_array(${place}::text, e'\\x1e')::json[]`;
