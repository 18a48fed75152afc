import type { FieldProblem } from '../errors.ts';

/** The messages between a SchemaValidator and its thread. The thread answers a request before the next is sent. */
export interface ValidationRequest {
  /** A JSON Schema without problems, as JSON text. */
  schemaJson: string;
  /** The text to validate. */
  json: string;
}

export type ValidationOutcome =
  | { kind: 'valid' }
  /** The text is no JSON (pointer "") or does not match the schema. */
  | { kind: 'invalid'; problems: FieldProblem[] }
  /** The validation needs more time, memory or stack than its limit. */
  | { kind: 'too_expensive'; message: string };

export type ValidationResponse = ValidationOutcome | { kind: 'ready' };
