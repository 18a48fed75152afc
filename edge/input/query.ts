import type { Static, TObject, TSchema } from 'typebox';
import { type FieldProblem, refuse } from '../../lib/errors.ts';
import { isStorable } from '../../lib/text.ts';
import { step } from './pointer.ts';
import { createInspection, refuseProblems } from './schema.ts';

export type RawQuery = Record<string, string | string[]>;

/** At most this many digits make a number that is exact. */
const WHOLE = /^-?\d{1,15}$/;

/**
 * Reads the query of a URL by a schema: texts become the numbers and booleans that the schema asks for.
 * Unknown members and repeated ones are refused with INVALID_REQUEST, like everything else that does not fit.
 */
export function createQueryReader<S extends TObject>(schema: S): (raw: RawQuery) => Static<S> {
  const inspect = createInspection(schema);
  const members = new Map<string, TSchema>(Object.entries(schema.properties));
  return (raw) => {
    const query: Record<string, unknown> = {};
    const problems: FieldProblem[] = [];
    const unstorable: FieldProblem[] = [];
    for (const [name, value] of Object.entries(raw)) {
      const pointer = step(name);
      const member = members.get(name);
      if (!member) problems.push({ pointer, message: 'is not a known parameter' });
      else if (typeof value !== 'string') problems.push({ pointer, message: 'must be given once' });
      else if (!isStorable(value)) unstorable.push({ pointer, message: 'holds a NUL character' });
      else query[name] = convert(value, member);
    }
    if (unstorable.length > 0) {
      throw refuse('INVALID_TEXT', 'a query parameter holds a NUL character', { details: unstorable });
    }
    problems.push(...inspect(query));
    if (problems.length > 0) throw refuseProblems(problems);
    return query as Static<S>;
  };
}

/** A text that is no such value stays a text, and the schema says what it should have been. */
function convert(text: string, schema: TSchema): unknown {
  const { type } = schema as { type?: string };
  if (type === 'integer' && WHOLE.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}
