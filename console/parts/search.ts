/** Reads what stands behind the question mark of a link, in which anybody may have written anything. */
export type RawSearch = Record<string, unknown>;

/** A word; undefined when it is empty. Numbers were words before they were parsed. */
export function wordIn(search: RawSearch, name: string): string | undefined {
  const value = search[name];
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function choiceIn<Choice extends string>(
  search: RawSearch,
  name: string,
  choices: readonly Choice[],
): Choice | undefined {
  return choices.find((choice) => choice === search[name]);
}

export function flagIn(search: RawSearch, name: string): true | undefined {
  return search[name] === true ? true : undefined;
}

/** A whole number of 1 or more. */
export function countIn(search: RawSearch, name: string): number | undefined {
  const value = search[name];
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

/** Of lists that are searched by words alone. */
export interface WordSearch {
  q?: string | undefined;
}

export const readWordSearch = (search: RawSearch): WordSearch => ({ q: wordIn(search, 'q') });
