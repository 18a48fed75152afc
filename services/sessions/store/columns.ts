/**
 * Rows turned into one array literal per column: a statement for any number of rows stays one prepared statement. It
 * takes them apart by `select unnest($1), unnest($2) …`, which goes row by row; `from unnest($1, $2 …)` would
 * first fill a store for each column.
 */
export function columns<Row>(
  rows: readonly Row[],
  pick: (row: Row) => readonly Value[],
  width: number,
): string[] {
  const literals: string[] = Array.from({ length: width }, () => '');
  for (const row of rows) {
    const values = pick(row);
    for (let i = 0; i < width; i++) literals[i] += `,${element(values[i])}`;
  }
  return literals.map((literal) => `{${literal.slice(1)}}`);
}

export type Value = string | number | boolean | Date | null | undefined;

/** What stands in an array as it is: ids, names, times and the like, which is nearly everything. */
const PLAIN = /^[\w.:|-]+$/;

/**
 * A value as an element of an array (https://www.postgresql.org/docs/18/arrays.html#ARRAYS-IO). The driver would
 * put every one of them in quotes, which costs a microsecond each on both sides together.
 */
function element(value: Value): string {
  if (value === null || value === undefined) return 'NULL';
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== 'string') return String(value);
  if (PLAIN.test(value) && value.toUpperCase() !== 'NULL') return value;
  return `"${value.replace(/["\\]/g, '\\$&')}"`;
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
