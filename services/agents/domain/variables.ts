import { type FieldProblems, pointerSegment } from '../../../lib/field-problems.ts';
import { variableNameProblem } from '../../../lib/variables.ts';

const MAX_VARIABLES = 100;
const MAX_VALUE = 4_096;
const MAX_BYTES = 32 * 1024;

/** Reports problems of environment variables: number, size, names and reserved names. */
export function checkVariables(variables: Readonly<Record<string, string>>, problems: FieldProblems): void {
  const entries = Object.entries(variables);
  if (entries.length > MAX_VARIABLES) {
    problems.add('/variables', `must have at most ${MAX_VARIABLES} members`);
    return;
  }
  let bytes = 0;
  for (const [name, value] of entries) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value);
    const problem = variableNameProblem(name);
    if (problem === 'malformed') {
      problems.add(
        '/variables',
        'must have names of 1–128 letters, digits and _ that do not begin with a digit',
      );
      continue;
    }
    if (problem === 'reserved')
      problems.add(
        `/variables${pointerSegment(name)}`,
        'must not be a variable that the sandbox sets itself',
      );
    problems.characters(`/variables${pointerSegment(name)}`, value, 0, MAX_VALUE);
  }
  if (bytes > MAX_BYTES) problems.add('/variables', 'must be at most 32 KiB long in total');
}
