import { refuse, refuseField } from '../../../lib/errors.ts';
import { isStorable } from '../../../lib/text.ts';

export interface PageRequest {
  limit: number;
  cursor: string;
}

const FIRST_PAGE: PageRequest = { limit: 50, cursor: '' };
const SEARCH_CHARACTERS = 200;

/** The page that is asked for; the first one when none is. */
export function checkPage(page: PageRequest | undefined): PageRequest {
  if (page && (page.limit < 1 || page.limit > 100)) throw refuseField('/limit', 'must be from 1 to 100');
  return page ?? FIRST_PAGE;
}

/** Refuses a search text that nothing could hold. */
export function checkSearch(q: string): void {
  if (!isStorable(q)) throw refuse('INVALID_TEXT', '/q must not hold a NUL character or a lone surrogate');
  if ([...q].length > SEARCH_CHARACTERS)
    throw refuseField('/q', `must be at most ${SEARCH_CHARACTERS} characters long`);
}
