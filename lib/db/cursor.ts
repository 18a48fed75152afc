import { createHash } from 'node:crypto';
import { refuse } from '../errors.ts';
import { type IdPrefix, isId } from '../ids.ts';

/**
 * A cursor is opaque and valid for one list: the same route, filters and caller, which form its scope. Its key is the
 * position of the next page. A cursor grants no access, so it is not signed.
 */
export type CursorScope = readonly (string | number | boolean | undefined)[];

const STAMP_BYTES = 9;

function stampOf(scope: CursorScope): Buffer {
  return createHash('sha256').update(JSON.stringify(scope)).digest().subarray(0, STAMP_BYTES);
}

export function encodeCursor(scope: CursorScope, key: string): string {
  return Buffer.concat([stampOf(scope), Buffer.from(key)]).toString('base64url');
}

/** Returns the key of a cursor, or undefined for the first page. Throws INVALID_CURSOR. */
export function decodeCursor(scope: CursorScope, cursor: string): string | undefined {
  if (cursor === '') return undefined;
  const bytes = Buffer.from(cursor, 'base64url');
  const canonical = bytes.toString('base64url') === cursor;
  if (!canonical || bytes.length <= STAMP_BYTES || !bytes.subarray(0, STAMP_BYTES).equals(stampOf(scope))) {
    throw refuse(
      'INVALID_CURSOR',
      'The cursor belongs to another list, other filters or another caller. Start from the first page.',
    );
  }
  return bytes.subarray(STAMP_BYTES).toString();
}

/** Returns the id at which a page begins; undefined for the first page. Clients can send any text as a cursor. */
export function decodeIdCursor(prefix: IdPrefix, scope: CursorScope, cursor: string): string | undefined {
  const id = decodeCursor(scope, cursor);
  if (id !== undefined && !isId(prefix, id)) {
    throw refuse('INVALID_CURSOR', 'The cursor is malformed or belongs to another list.');
  }
  return id;
}

export interface RowPage<Row> {
  rows: Row[];
  /** Empty when this is the last page. */
  nextCursor: string;
}

/** Returns the page of `limit + 1` fetched rows. The extra row shows that a next page exists. */
export function pageOf<Row>(
  rows: Row[],
  limit: number,
  scope: CursorScope,
  keyOf: (row: Row) => string,
): RowPage<Row> {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const nextCursor = rows.length > limit && last !== undefined ? encodeCursor(scope, keyOf(last)) : '';
  return { rows: page, nextCursor };
}
