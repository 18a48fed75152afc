import type { FieldProblem } from '../errors.ts';

const MAX_SHOWN_PROBLEMS = 5;

/** Describes the problems of an invalid value for a model, as one line of at most five problems. */
export function describeProblems(problems: readonly FieldProblem[]): string {
  const lines = problems.map(({ pointer, message }) => `${pointer || '/'} ${message}`);
  return [...new Set(lines)].slice(0, MAX_SHOWN_PROBLEMS).join('; ');
}
