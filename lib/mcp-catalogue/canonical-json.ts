/** Levels of objects and arrays that a canonical text may have. */
export const MAX_LEVELS = 128;

/**
 * Returns the canonical JSON text of a parsed JSON value (RFC 8785): equal values have equal texts. Throws a RangeError for
 * a value with more than MAX_LEVELS levels, and a TypeError for text that is not well-formed Unicode.
 */
export function canonicalJson(value: unknown): string {
  const parts: string[] = [];
  write(value, 0, parts);
  return parts.join('');
}

/** Appends to one list, because joining the parts of each level would copy a large text once a level. */
function write(value: unknown, level: number, parts: string[]): void {
  if (!isCompound(value)) return void parts.push(quote(value));
  if (level >= MAX_LEVELS) throw new RangeError(`The value has more than ${MAX_LEVELS} levels.`);
  if (Array.isArray(value)) writeItems(value, level, parts);
  else writeMembers(value, level, parts);
}

function writeItems(items: readonly unknown[], level: number, parts: string[]): void {
  if (!items.some(isCompound)) {
    for (const item of items) checkText(item);
    return void parts.push(JSON.stringify(items));
  }
  for (const [index, item] of items.entries()) {
    parts.push(index === 0 ? '[' : ',');
    write(item, level + 1, parts);
  }
  parts.push(']');
}

function writeMembers(value: object, level: number, parts: string[]): void {
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    // The order of UTF-16 code units, which RFC 8785 requires.
    .sort(([one], [other]) => (one < other ? -1 : 1));
  parts.push('{');
  for (const [index, [name, member]] of members.entries()) {
    parts.push(`${index === 0 ? '' : ','}${quote(name)}:`);
    write(member, level + 1, parts);
  }
  parts.push('}');
}

function isCompound(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function quote(value: unknown): string {
  checkText(value);
  return JSON.stringify(value);
}

function checkText(value: unknown): void {
  if (typeof value === 'string' && !value.isWellFormed())
    throw new TypeError('The text has a lone surrogate.');
}
