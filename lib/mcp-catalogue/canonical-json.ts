/** Levels of objects and arrays that a canonical text may have. */
export const MAX_LEVELS = 128;

/**
 * Returns the canonical JSON text of a parsed JSON value (RFC 8785): equal values have equal texts. Throws a RangeError for
 * a value with more than MAX_LEVELS levels, and a TypeError for text that is not well-formed Unicode.
 */
export function canonicalJson(value: unknown): string {
  return write(value, 0);
}

function write(value: unknown, level: number): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (level >= MAX_LEVELS) throw new RangeError(`The value has more than ${MAX_LEVELS} levels.`);
  if (Array.isArray(value)) return `[${value.map((item) => write(item, level + 1)).join(',')}]`;
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    // The order of UTF-16 code units, which RFC 8785 requires.
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${quote(name)}:${write(member, level + 1)}`);
  return `{${members.join(',')}}`;
}

function quote(text: string): string {
  if (!text.isWellFormed()) throw new TypeError('The text has a lone surrogate.');
  return JSON.stringify(text);
}
