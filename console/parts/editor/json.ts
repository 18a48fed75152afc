/** What a text says as JSON. */
export type ReadJson<Value> = { value: Value; problem?: never } | { value?: never; problem: string };

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A JSON object; a text without anything in it is an empty one. */
export function readObject(text: string): ReadJson<Record<string, unknown>> {
  if (text.trim() === '') return { value: {} };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: `This is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
  return isObject(value) ? { value } : { problem: 'This has to be a JSON object: {"name": …}.' };
}

/** A JSON object whose members are texts. */
export function readTexts(text: string): ReadJson<Record<string, string>> {
  const { value, problem } = readObject(text);
  if (problem !== undefined) return { problem };
  const texts: [name: string, text: string][] = [];
  for (const [name, member] of Object.entries(value)) {
    if (typeof member !== 'string') return { problem: `“${name}” has to be a text in double quotes.` };
    texts.push([name, member]);
  }
  return { value: Object.fromEntries(texts) };
}

/** As somebody would write it; nothing for an empty object. */
export function writeObject(value: Record<string, unknown>): string {
  return Object.keys(value).length === 0 ? '' : JSON.stringify(value, null, 2);
}
