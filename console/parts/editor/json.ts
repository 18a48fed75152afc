/** A parsed JSON value or a validation error. */
export type ReadJson<Value> = { value: Value; problem?: never } | { value?: never; problem: string };

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Parses a JSON object. An empty text is an empty object. */
export function readObject(text: string): ReadJson<Record<string, unknown>> {
  if (text.trim() === '') return { value: {} };
  const { value, problem } = readValue(text);
  if (problem !== undefined) return { problem };
  return isObject(value) ? { value } : { problem: 'Enter a JSON object, for example {"name": "value"}.' };
}

/** Parses a JSON Schema, which is an object or a boolean. An empty text is null. */
export function readSchema(text: string): ReadJson<Record<string, unknown> | boolean | null> {
  if (text.trim() === '') return { value: null };
  const { value, problem } = readValue(text);
  if (problem !== undefined) return { problem };
  if (isObject(value) || typeof value === 'boolean') return { value };
  return { problem: 'Enter a JSON Schema, for example {"type": "object"}.' };
}

function readValue(text: string): ReadJson<unknown> {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { problem: `Invalid JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** Parses a JSON object whose values are strings. */
export function readTexts(text: string): ReadJson<Record<string, string>> {
  const { value, problem } = readObject(text);
  if (problem !== undefined) return { problem };
  const texts: [name: string, text: string][] = [];
  for (const [name, member] of Object.entries(value)) {
    if (typeof member !== 'string')
      return { problem: `The value of “${name}” must be a string in double quotes.` };
    texts.push([name, member]);
  }
  return { value: Object.fromEntries(texts) };
}

/** Formats an object for a text field. An empty object becomes an empty text. */
export function writeObject(value: Record<string, unknown>): string {
  return Object.keys(value).length === 0 ? '' : JSON.stringify(value, null, 2);
}
