/** A value of a column before it is written as text. */
type ColumnValue = string | number | boolean | Date | null | undefined;

type ColumnType = 'text' | 'bigint' | 'integer' | 'smallint' | 'boolean' | 'timestamptz' | 'json';

/**
 * SQL type and value of a column. The type `json texts` is for large JSON texts: all rows travel as one text with
 * separators, because an array literal would have every quote escaped here and unescaped by PostgreSQL.
 */
type Column<Row> =
  | readonly [type: ColumnType, value: (row: Row) => ColumnValue]
  | readonly [type: 'bytea', value: (row: Row) => Buffer]
  | readonly [type: 'json texts', value: (row: Row) => string];

export type Columns<Row> = Readonly<Record<string, Column<Row>>>;

interface ColumnTable<Row, Name extends string> {
  /** `select unnest($1::text[]) as a, …`: one row for each row of the values, with these columns. */
  select(names: readonly Name[]): string;
  /** The same rows for a statement that looks up something for each of them (`lookupsOf`). */
  selectForLookups(names: readonly Name[]): string;
  /** The parameters of the statement, one for each column, in the order of the table. */
  values(rows: readonly Row[]): string[];
  /** Number of the first parameter after those of this table. */
  readonly nextParameter: number;
}

/**
 * Describes the rows that a statement takes. Each column is one parameter, an array literal, so that the statement
 * for any number of rows is one prepared statement. `select unnest($1), unnest($2) …` reads the arrays row by row;
 * `from unnest($1, $2 …)` would first fill a tuple store for each column.
 *
 * The SQL is meant to be built once, when the module is loaded.
 */
export function columnTable<Row, Table extends Columns<Row>>(
  firstParameter: number,
  columns: Table & Columns<Row>,
): ColumnTable<Row, keyof Table & string> {
  const names = Object.keys(columns);
  const entries: readonly Column<Row>[] = Object.values(columns);
  const writers = entries.map(writerOf);

  function unnest(name: string): string {
    const index = names.indexOf(name);
    const type = entries[index]?.[0];
    const parameter = `$${firstParameter + index}`;
    return type === 'json texts'
      ? `unnest(${textArray(parameter)}) as ${name}`
      : `unnest(${parameter}::${type}[]) as ${name}`;
  }

  return {
    select: (selected) => `select ${selected.map(unnest).join(', ')}`,
    selectForLookups: (selected) =>
      lookupsOf(`select ${selected.map(unnest).join(', ')}`, `$${firstParameter}::${entries[0]?.[0]}[]`),
    values: (rows) => writers.map((write) => write(rows)),
    nextParameter: firstParameter + entries.length,
  };
}

/**
 * Rows of arrays for a statement that looks up something for each of them. `array` is one of the arrays, which have the same
 * length. The limit changes nothing but the planner's estimate, from 10 rows to 1. Otherwise the planner takes a whole index
 * of a new table for cheaper than 10 lookups, and keeps that plan while the table grows; or it finds that a plan for the exact
 * length is cheaper than the prepared one, and plans each small group again, which costs more than its execution.
 */
function lookupsOf(rows: string, array: string): string {
  return `${rows} limit cardinality(${array})`;
}

/** The sessions whose ids are in `$1`, for lookups. */
export const SESSION_IDS = lookupsOf('select unnest($1::text[]) as session_id', '$1::text[]');

export function columnNames<Table extends Columns<never>>(columns: Table): (keyof Table & string)[] {
  return Object.keys(columns);
}

/** `a, b, c`: the names of the columns as SQL. */
export function columnList(columns: Columns<never>): string {
  return columnNames(columns).join(', ');
}

/** `a = i.a, b = i.b`: SQL that assigns the columns from a derived table `i`. */
export function assignments(columns: Columns<never>): string {
  return columnNames(columns)
    .map((name) => `${name} = i.${name}`)
    .join(', ');
}

function writerOf<Row>([type, value]: Column<Row>): (rows: readonly Row[]) => string {
  if (type === 'json texts') return textsWriter(value);
  return arrayWriter(type === 'bytea' ? (row) => `\\x${value(row).toString('hex')}` : value);
}

/** Writes the array literal of a column. */
function arrayWriter<Row>(value: (row: Row) => ColumnValue): (rows: readonly Row[]) => string {
  return (rows) => {
    let literal = '{';
    for (let i = 0; i < rows.length; i++) {
      if (i > 0) literal += ',';
      literal += element(value(rows[i] as Row));
    }
    return `${literal}}`;
  };
}

function textsWriter<Row>(value: (row: Row) => string): (rows: readonly Row[]) => string {
  return (rows) => rows.map(value).join(RECORD_SEPARATOR);
}

/** Strings that need no quotes in an array literal: ids, names, times and the like, which is nearly every value. */
const PLAIN = /^[\w.:|-]+$/;

/**
 * A value as an element of an array literal (https://www.postgresql.org/docs/18/arrays.html#ARRAYS-IO). The driver
 * would quote every element, which costs a microsecond each on both sides together.
 */
function element(value: ColumnValue): string {
  if (value === null || value === undefined) return 'NULL';
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== 'string') return String(value);
  if (PLAIN.test(value) && !isNullWord(value)) return value;
  return `"${value.replace(/["\\]/g, '\\$&')}"`;
}

/** `NULL` in any case is null in an array literal unless it is quoted. */
function isNullWord(value: string): boolean {
  return value.length === 4 && value.toUpperCase() === 'NULL';
}

/** Separates the texts of a `json texts` column. JSON text never contains this control character. */
const RECORD_SEPARATOR = '\x1e';

/** The SQL that splits a `json texts` parameter into a `text[]`. An empty text becomes null. */
function textArray(parameter: string): string {
  return `string_to_array(${parameter}::text, e'\\x1e', '')`;
}
