import type { UserName } from '../../gen/types.gen.ts';

/** The service searches for texts of at least this length. */
export const MIN_SEARCH_CHARS = 2;

/** Returns the name of a user, or the e-mail address of a user without a name. */
export const nameOf = (user: UserName | null | undefined): string | undefined =>
  user?.display_name || user?.email || undefined;

export type SearchResult = { user: UserName } | { problem: string; isAmbiguous: boolean };

/** Returns the users whose id, e-mail address or name is the text. */
export function exactMatches(text: string, found: readonly UserName[]): UserName[] {
  const wanted = text.trim().toLowerCase();
  return found.filter(({ user_id: id, email, display_name: name }) =>
    [id, email, name].some((value) => value?.toLowerCase() === wanted),
  );
}

/**
 * Returns the user that a text means: the exact match, or the only user that was found. An e-mail address has to match
 * exactly, because it may be a part of another one.
 */
export function resolveUser(text: string, found: readonly UserName[]): SearchResult {
  const shown = text.trim();
  const isAddress = shown.includes('@');
  const exact = exactMatches(text, found);
  const candidates = exact.length > 0 || isAddress ? exact : found;
  const [user, ...others] = candidates;
  if (user && others.length === 0) return { user };
  if (user)
    return { problem: `Several users match “${shown}”. Choose one from the list.`, isAmbiguous: true };
  const unknown = isAddress ? `No user has the e-mail address ${shown}.` : `No user matches “${shown}”.`;
  return { problem: `${unknown} Users are found after their first login.`, isAmbiguous: false };
}

export const isSearchable = (text: string): boolean => [...text.trim()].length >= MIN_SEARCH_CHARS;

/** Returns the index of the option after a key; undefined when no option is highlighted. */
export function moveHighlight(key: string, current: number | undefined, count: number): number | undefined {
  if (count === 0) return undefined;
  if (key === 'ArrowDown') return current === undefined || current === count - 1 ? 0 : current + 1;
  if (key === 'ArrowUp') return current === undefined || current === 0 ? count - 1 : current - 1;
  return current;
}
