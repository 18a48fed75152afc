/** Describes the expected form. */
export const PAIRS = 'name=value pairs separated by commas, special characters percent-encoded';

/** Parses `name=value` pairs in the form of W3C Baggage: separators inside values are percent-encoded. */
export function parsePairs(text: string): Record<string, string> {
  const parts = text.split(',').filter((part) => part.trim() !== '');
  return Object.fromEntries(
    parts.map((part) => {
      const [, name = '', value = ''] = /^\s*([!#$%&'*+.^_`|~\w-]+)\s*=(.*)$/.exec(part) ?? [];
      if (name === '') throw new Error('is not a list of this form');
      return [name, decoded(value.trim())];
    }),
  );
}

function decoded(value: string): string {
  let text: string;
  try {
    text = decodeURIComponent(value);
  } catch {
    throw new Error('contains a value with invalid percent-encoding');
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters
  if (/[\x00-\x1f\x7f]/.test(text)) throw new Error('contains a control character');
  return text;
}
