import { type CursorScope, decodeCursor } from '../../../lib/db/cursor.ts';
import { refuse } from '../../../lib/errors.ts';
import { type IdPrefix, isId } from '../../../lib/ids.ts';

/** Returns the id at which a page begins; undefined for the first page. Clients can send any text as a cursor. */
export function decodeIdCursor(prefix: IdPrefix, scope: CursorScope, cursor: string): string | undefined {
  const id = decodeCursor(scope, cursor);
  if (id !== undefined && !isId(prefix, id)) {
    throw refuse('INVALID_CURSOR', 'The cursor is malformed or belongs to another list.');
  }
  return id;
}
