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
  /** Rows there were to choose from; more than came when the list goes on. */
  candidates: number;
}

/** A page ends early at about this many bytes of text. */
export const PAGE_BYTES = 4 * 1024 * 1024;

/** Before the first of all versions that a list shows, the newest one. */
export const END_OF_VERSIONS = 2 ** 31 - 1;

/** Where a page begins; undefined for the first one. The cursor is the client's, so its key can be anything. */
export function placeIn(
  scope: string[],
  { cursor }: PageRequest,
  valid: (key: string) => boolean,
): string | undefined {
  const key = decodeCursor(scope, cursor);
  if (key === undefined || valid(key)) return key;
  throw refuse('INVALID_CURSOR', 'the cursor is not one of this list');
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
