import { refuse } from '../../../lib/errors.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROL = /[\x00-\x1f]/;

/**
 * JSON that others have written goes into events as it is, so it is read once before: it must be JSON, on one
 * line, as a control character between its members would run into the marks that part events. Returns it.
 */
export function oneLine(json: string, what: string): string {
  parseLine(json, what);
  return json;
}

/** The same; returns what it holds. */
export function parseLine(json: string, what: string): unknown {
  if (CONTROL.test(json)) throw refuse('INVALID_REQUEST', `${what} is JSON on more than one line`);
  try {
    return JSON.parse(json);
  } catch (error) {
    throw refuse('INVALID_REQUEST', `${what} is not JSON`, { cause: error });
  }
}

/** The text of the first content part that has any; empty for none. */
export function textIn(content: unknown): string {
  if (!Array.isArray(content)) return '';
  const part: unknown = content.find((one) => typeof one?.text === 'string');
  return (part as { text: string } | undefined)?.text ?? '';
}
