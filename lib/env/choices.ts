import type { Setting } from '../env.ts';

/** A setting that selects some of `values`, separated by commas. Unset, it selects none. */
export function choices<Value extends string>(
  variable: string,
  values: readonly Value[],
  about: string,
): Setting<readonly Value[]> {
  return {
    variable,
    about,
    expected: `some of ${values.join(', ')}, separated by commas`,
    shownDefault: undefined,
    secret: false,
    fallback: [],
    optional: true,
    fix: 'correct it, or unset it',
    parse: (text) => parseChoices(text, values),
  };
}

function parseChoices<Value extends string>(text: string, values: readonly Value[]): Value[] {
  const names = text.split(',').map((part) => part.trim());
  const chosen = values.filter((value) => names.includes(value));
  const unknown = names.find((name) => name !== '' && !values.some((value) => value === name));
  if (unknown !== undefined) throw new Error(`names ${unknown}, which is not one of these values`);
  return chosen;
}
