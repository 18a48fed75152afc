import { decodeCursor, encodeCursor } from '../../../lib/db/cursor.ts';
import { refuse } from '../../../lib/errors.ts';

export interface PageOf<Item> {
  items: Item[];
  /** Empty when this is the last page. */
  nextCursor: string;
}

export interface PageRequest {
  limit: number;
  cursor: string;
}

export interface PageRow {
  /** Number of matching rows, up to one more than the limit; more than the returned rows if there is a next page. */
  candidates: number;
}

/** The approximate limit for the text of a page, which may end before its row limit. */
export const PAGE_BYTES = 4 * 1024 * 1024;

/** The position of the first page, which is larger than every version. */
export const END_OF_VERSIONS = 2 ** 31 - 1;

/** Returns the position after which a page begins; undefined for the first page. Refused with INVALID_CURSOR. */
export function decodePosition(
  scope: string[],
  { cursor }: PageRequest,
  valid: (key: string) => boolean,
): string | undefined {
  const key = decodeCursor(scope, cursor);
  if (key === undefined || valid(key)) return key;
  throw refuse('INVALID_CURSOR', 'The cursor does not belong to this list.');
}

export function nextCursor<Row extends PageRow>(
  rows: Row[],
  scope: string[],
  keyOfRow: (row: Row) => string,
): string {
  const last = rows.at(-1);
  return last && last.candidates > rows.length ? encodeCursor(scope, keyOfRow(last)) : '';
}

export function isVersionNumber(key: string): boolean {
  return /^[1-9]\d{0,8}$/.test(key);
}
