import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Settings } from 'typebox/system';
import { type FieldProblem, refuse } from '../../lib/errors.ts';
import { problemsOf } from './problems.ts';

/** Report what is wrong with a request at once, and not only its first few mistakes. */
Settings.Set({ maxErrors: 200 });

/** Checks a value against a schema. Nothing is converted. Refused with INVALID_REQUEST, naming every member. */
export function createCheck<S extends TSchema>(schema: S): (value: unknown) => Static<S> {
  let compiled: ReturnType<typeof Compile> | undefined;
  return (value) => {
    compiled ??= Compile(schema);
    if (!compiled.Check(value)) throw refuseProblems(problemsOf(compiled.Errors(value)));
    return value as Static<S>;
  };
}

export function refuseProblems(details: FieldProblem[]) {
  const [first] = details;
  const more = details.length > 1 ? ` (and ${details.length - 1} more)` : '';
  const message = first
    ? `${first.pointer || 'the body'} ${first.message}${more}`
    : 'the request is not valid';
  return refuse('INVALID_REQUEST', message, { details });
}
