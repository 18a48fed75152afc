import type { FieldProblems } from '../../../lib/field-problems.ts';
import { findSchemaProblem } from '../../../lib/json-schema/schema.ts';

/** Reports a text that is not a JSON Schema within the limits of `lib/json-schema`. */
export function checkSchemaText(pointer: string, json: string, problems: FieldProblems): void {
  let schema: unknown;
  try {
    schema = JSON.parse(json);
  } catch {
    problems.add(pointer, 'must be JSON');
    return;
  }
  const problem = findSchemaProblem(schema);
  // The pointer of a refusal travels in a gRPC trailer.
  if (problem) problems.add((pointer + problem.pointer).slice(0, MAX_POINTER), problem.message);
}

const MAX_POINTER = 256;
