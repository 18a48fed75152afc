import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Settings } from 'typebox/system';
import { type FieldProblem, refuse } from '../../lib/errors.ts';
import { problemsOf } from '../../lib/json-schema/problems.ts';

/** The default of the library reports only the first few errors. */
Settings.Set({ maxErrors: 200 });

const NONE: FieldProblem[] = [];

/** Creates a function that returns the problems of a value, one per member. Values are not converted. */
export function createInspector(schema: TSchema): (value: unknown) => FieldProblem[] {
  let compiled: ReturnType<typeof Compile> | undefined;
  return (value) => {
    compiled ??= Compile(schema);
    return compiled.Check(value) ? NONE : problemsOf(compiled.Errors(value));
  };
}

/** Creates a function that validates a value. It refuses with INVALID_REQUEST and lists every problem. */
export function createCheck<S extends TSchema>(schema: S): (value: unknown) => Static<S> {
  const inspect = createInspector(schema);
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
    ? `${first.pointer || 'The body'} ${first.message}${more}`
    : 'The request is not valid.';
  return refuse('INVALID_REQUEST', message, { details });
}
