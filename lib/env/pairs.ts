/** The form, for people. */
export const PAIRS = 'name=value pairs separated by commas, special characters percent-encoded';

/** `name=value` pairs as W3C Baggage writes them: whatever could be taken for a separator is percent-encoded. */
export function parsePairs(text: string): Record<string, string> {
  const parts = text.split(',').filter((part) => part.trim() !== '');
  return Object.fromEntries(
    parts.map((part) => {
      const [, name = '', value = ''] = /^\s*([!#$%&'*+.^_`|~\w-]+)\s*=(.*)$/.exec(part) ?? [];
      if (name === '') throw new Error('is not such a list');
      return [name, decoded(value.trim())];
    }),
  );
}

function decoded(value: string): string {
  let text: string;
  try {
    text = decodeURIComponent(value);
  } catch {
    throw new Error('holds a value that is not percent-encoded');
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\x00-\x1f\x7f]/.test(text)) throw new Error('holds a control character');
  return text;
}
