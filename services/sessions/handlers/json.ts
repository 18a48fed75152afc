import { refuse } from '../../../lib/errors.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for control characters
const CONTROL = /[\x00-\x1f]/;

/**
 * Returns the JSON text unchanged if it is valid and on one line. JSON of a caller becomes part of events as it is, and
 * a control character between its members could be mistaken for the separator of events. `name` names the text in the
 * error message.
 */
export function requireSingleLineJson(json: string, name: string): string {
  parseSingleLineJson(json, name);
  return json;
}

/** Parses a JSON text that must be on one line. Refuses with INVALID_REQUEST. */
export function parseSingleLineJson(json: string, name: string): unknown {
  if (CONTROL.test(json)) throw refuse('INVALID_REQUEST', `${name}: The JSON text has more than one line.`);
  try {
    return JSON.parse(json);
  } catch (error) {
    throw refuse('INVALID_REQUEST', `${name}: The text is not valid JSON.`, { cause: error });
  }
}
