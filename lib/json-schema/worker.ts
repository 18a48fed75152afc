/**
 * The thread that validates values. Schemas and values come from users and models and can take exponential time, so the
 * SchemaValidator terminates this thread when it does not answer in time.
 */
import { parentPort } from 'node:worker_threads';
import { Check, Errors } from 'typebox/schema';
import { Settings } from 'typebox/system';
import type { ValidationOutcome, ValidationRequest, ValidationResponse } from './messages.ts';
import { problemsOf } from './problems.ts';
import { isDeeper } from './schema.ts';

/** As for the bodies of requests (edge/input/json.ts), because readers may be recursive. */
const MAX_VALUE_LEVELS = 100;
const MAX_PROBLEMS = 20;

Settings.Set({ maxErrors: MAX_PROBLEMS });

function validate({ schemaJson, json }: ValidationRequest): ValidationOutcome {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return invalid('must be JSON');
  }
  if (isDeeper(value, MAX_VALUE_LEVELS))
    return invalid(`must not be nested deeper than ${MAX_VALUE_LEVELS} levels`);
  const schema = JSON.parse(schemaJson);
  // `Check` interprets the schema: no code is generated from it.
  if (Check(schema, value)) return { kind: 'valid' };
  const problems = problemsOf(Errors(schema, value)[1]).slice(0, MAX_PROBLEMS);
  return problems.length > 0 ? { kind: 'invalid', problems } : invalid('does not match the schema');
}

function invalid(message: string): ValidationOutcome {
  return { kind: 'invalid', problems: [{ pointer: '', message }] };
}

function respond(response: ValidationResponse): void {
  parentPort?.postMessage(response);
}

parentPort?.on('message', (request: ValidationRequest) => {
  try {
    respond(validate(request));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // A schema that refers to itself without an end.
    respond({ kind: 'too_expensive', message: 'The schema recurses too deeply.' });
  }
});
respond({ kind: 'ready' });
