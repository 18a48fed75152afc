import type { Static, TObject, TSchema } from 'typebox';
import { type FieldProblem, refuse } from '../../lib/errors.ts';
import { pointerStep } from '../../lib/json-schema/pointer.ts';
import { isStorable } from '../../lib/text.ts';
import { createInspector, refuseProblems } from './schema.ts';

export type RawQuery = Record<string, string | string[]>;

/** One member of a parameter that is an object: `metadata[team]`. */
const MEMBER = /^(\w+)\[(.*)\]$/s;
/** Integers of at most 15 digits are exact. */
const INTEGER = /^-?\d{1,15}$/;

/**
 * Creates a function that validates the query of a URL and converts values to the integers and booleans of the schema.
 * Parameters `name[key]` are the members of an object. It refuses unknown and invalid parameters, and repeated ones whose schema is not an array, with INVALID_REQUEST, and NUL
 * characters with INVALID_TEXT.
 */
export function createQueryReader<S extends TObject>(schema: S): (raw: RawQuery) => Static<S> {
  const inspect = createInspector(schema);
  const members = new Map<string, TSchema>(Object.entries(schema.properties));
  return (raw) => {
    const query: Record<string, unknown> = {};
    const objects = new Map<string, Map<string, string>>();
    const problems: FieldProblem[] = [];
    const unstorable: FieldProblem[] = [];
    for (const [name, value] of Object.entries(raw)) {
      const [, object = '', key = ''] = isObject(members.get(name)) ? [] : (MEMBER.exec(name) ?? []);
      const isMember = isObject(members.get(object));
      const pointer = isMember ? pointerStep(object) + pointerStep(key) : pointerStep(name);
      const member = members.get(isMember ? object : name);
      if (!member) problems.push({ pointer, message: 'is not a known parameter' });
      else if (!isStorable([key, value].flat().join()))
        unstorable.push({ pointer, message: 'contains a NUL character' });
      else if (isArray(member)) query[name] = [value].flat();
      else if (typeof value !== 'string') problems.push({ pointer, message: 'must be given once' });
      else if (isMember) objects.set(object, (objects.get(object) ?? new Map()).set(key, value));
      else if (isObject(member)) problems.push({ pointer, message: `must be given as ${name}[key]` });
      else query[name] = convert(value, member);
    }
    for (const [name, entries] of objects) query[name] = Object.fromEntries(entries);
    if (unstorable.length > 0) {
      throw refuse('INVALID_TEXT', 'A query parameter contains a NUL character.', { details: unstorable });
    }
    problems.push(...inspect(query));
    if (problems.length > 0) throw refuseProblems(problems);
    return query as Static<S>;
  };
}

function isArray(schema: TSchema): boolean {
  return (schema as { type?: string }).type === 'array';
}

function isObject(schema: TSchema | undefined): boolean {
  return (schema as { type?: string } | undefined)?.type === 'object';
}

/** A text that is not a value of the type stays a text, which the schema then refuses. */
function convert(text: string, schema: TSchema): unknown {
  const { type } = schema as { type?: string };
  if (type === 'integer' && INTEGER.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}
