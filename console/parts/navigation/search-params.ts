/** Unvalidated query parameters of a URL. */
export type RawSearch = Record<string, unknown>;

/** Returns a text parameter; undefined when it is empty. The router parses numeric texts as numbers. */
export function textParam(search: RawSearch, name: string): string | undefined {
  const value = search[name];
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function choiceParam<Choice extends string>(
  search: RawSearch,
  name: string,
  choices: readonly Choice[],
): Choice | undefined {
  return choices.find((choice) => choice === search[name]);
}

export function flagParam(search: RawSearch, name: string): true | undefined {
  return search[name] === true ? true : undefined;
}

/** Returns an integer parameter of 1 or more. */
export function positiveIntegerParam(search: RawSearch, name: string): number | undefined {
  const value = search[name];
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

/** Query parameters of lists with a search text only. */
export interface TextSearch {
  q?: string | undefined;
}

export const readTextSearch = (search: RawSearch): TextSearch => ({ q: textParam(search, 'q') });
