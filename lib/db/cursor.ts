import { createHash } from 'node:crypto';
import { refuse } from '../errors.ts';

/**
 * Cursors are opaque and belong to one list: the same route, filters and caller. The scope says which;
 * the key is where the next page begins. A cursor grants nothing, so it needs no signature.
 */
export type CursorScope = readonly (string | number | boolean | undefined)[];

const STAMP_BYTES = 9;

function stampOf(scope: CursorScope): Buffer {
  return createHash('sha256').update(JSON.stringify(scope)).digest().subarray(0, STAMP_BYTES);
}

export function encodeCursor(scope: CursorScope, key: string): string {
  return Buffer.concat([stampOf(scope), Buffer.from(key)]).toString('base64url');
}

/** The key of a cursor, or undefined for the first page. Refused with INVALID_CURSOR. */
export function decodeCursor(scope: CursorScope, cursor: string): string | undefined {
  if (cursor === '') return undefined;
  const bytes = Buffer.from(cursor, 'base64url');
  const canonical = bytes.toString('base64url') === cursor;
  if (!canonical || bytes.length <= STAMP_BYTES || !bytes.subarray(0, STAMP_BYTES).equals(stampOf(scope))) {
    throw refuse('INVALID_CURSOR', 'the cursor does not belong to this list, its filters and its caller');
  }
  return bytes.subarray(STAMP_BYTES).toString();
}

export interface Page<Row> {
  rows: Row[];
  /** Empty when this is the last page. */
  nextCursor: string;
}

/** Cuts `limit + 1` rows down to a page. */
export function pageOf<Row>(
  rows: Row[],
  limit: number,
  scope: CursorScope,
  keyOf: (row: Row) => string,
): Page<Row> {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const nextCursor = rows.length > limit && last !== undefined ? encodeCursor(scope, keyOf(last)) : '';
  return { rows: page, nextCursor };
}
