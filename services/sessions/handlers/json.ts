import { refuse } from '../../../lib/errors.ts';

/** JSON that others have written goes into events as it is, so it is read once before. Returns it. */
export function requireJson(text: string, what: string): string {
  try {
    JSON.parse(text);
    return text;
  } catch (error) {
    throw refuse('INVALID_REQUEST', `${what} is not JSON`, { cause: error });
  }
}
