import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Settings } from 'typebox/system';
import { type FieldProblem, refuse } from '../../lib/errors.ts';
import { problemsOf } from './problems.ts';

/** Report what is wrong with a request at once, and not only its first few mistakes. */
Settings.Set({ maxErrors: 200 });

const NONE: FieldProblem[] = [];

/** Finds what is wrong with a value by a schema, one problem for each member. Nothing is converted. */
export function createInspection(schema: TSchema): (value: unknown) => FieldProblem[] {
  let compiled: ReturnType<typeof Compile> | undefined;
  return (value) => {
    compiled ??= Compile(schema);
    return compiled.Check(value) ? NONE : problemsOf(compiled.Errors(value));
  };
}

/** Checks a value against a schema. Refused with INVALID_REQUEST, naming every member. */
export function createCheck<S extends TSchema>(schema: S): (value: unknown) => Static<S> {
  const inspect = createInspection(schema);
  return (value) => {
    const problems = inspect(value);
    if (problems.length > 0) throw refuseProblems(problems);
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
