import { refuse, refuseField } from '../../../lib/errors.ts';
import { isStorable } from '../../../lib/text.ts';

export interface PageRequest {
  limit: number;
  cursor: string;
}

const FIRST_PAGE: PageRequest = { limit: 50, cursor: '' };
const SEARCH_CHARACTERS = 200;

/** Default: the first page. */
export function checkPage(page: PageRequest | undefined): PageRequest {
  if (page && (page.limit < 1 || page.limit > 100)) throw refuseField('/limit', 'must be from 1 to 100');
  return page ?? FIRST_PAGE;
}

const MIN_SEARCH_CHARACTERS = 2;
const MAX_USER_IDS = 100;

/** Rejects a request for users that names neither a search text nor ids, or both. */
export function checkFind({ q, userIds }: { q: string; userIds: readonly string[] }): void {
  if (userIds.length > MAX_USER_IDS) throw refuseField('/id', `must be given at most ${MAX_USER_IDS} times`);
  if (userIds.length > 0 && q !== '') throw refuseField('/q', 'cannot be combined with id');
  if (userIds.length > 0) return;
  checkSearch(q);
  if ([...q.trim()].length < MIN_SEARCH_CHARACTERS)
    throw refuseField('/q', `must have at least ${MIN_SEARCH_CHARACTERS} characters`);
}

/** Rejects a search text that no stored text can contain. */
export function checkSearch(q: string): void {
  if (!isStorable(q)) throw refuse('INVALID_TEXT', '/q must not contain a NUL character or a lone surrogate');
  if ([...q].length > SEARCH_CHARACTERS)
    throw refuseField('/q', `must be at most ${SEARCH_CHARACTERS} characters long`);
}
