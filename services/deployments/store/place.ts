import { type CursorScope, decodeCursor } from '../../../lib/db/cursor.ts';
import { refuse } from '../../../lib/errors.ts';
import { type IdPrefix, isId } from '../../../lib/ids.ts';

/** The id where a page begins; undefined for the first page. The cursor is the client's, so it can hold anything. */
export function placeOf(prefix: IdPrefix, scope: CursorScope, cursor: string): string | undefined {
  const id = decodeCursor(scope, cursor);
  if (id !== undefined && !isId(prefix, id)) {
    throw refuse('INVALID_CURSOR', 'the cursor is not one of this list');
  }
  return id;
}
