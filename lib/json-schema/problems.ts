import type { TLocalizedValidationError } from 'typebox/error';
import type { FieldProblem } from '../errors.ts';
import { pointerStep } from './pointer.ts';

type SchemaError = TLocalizedValidationError;
type Params = Record<string, unknown>;

/** Converts schema errors to readable messages, one per member. */
export function problemsOf(errors: SchemaError[]): FieldProblem[] {
  return withoutAlternatives(errors).flatMap(explain);
}

/**
 * Reduces the errors below an `anyOf` to those of the alternative whose type the value has. Of several such objects, the one
 * whose member `type` the value has is used. Without such an alternative, one error lists the allowed types.
 */
function withoutAlternatives(errors: SchemaError[]): SchemaError[] {
  let reduced = errors;
  for (const union of errors.filter((error) => error.keyword === 'anyOf')) {
    const below = reduced.filter((error) => error.schemaPath.startsWith(`${union.schemaPath}/anyOf/`));
    const branches = Map.groupBy(below, (error) => branchOf(union, error));
    const ofType = [...branches.values()].filter(
      (branch) => !branch.some((error) => isWrongType(error, union)),
    );
    const matching =
      ofType.find((branch) => !branch.some((error) => isWrongVariant(error, union))) ??
      unknownVariant(below, union) ??
      ofType[0];
    const types = below
      .filter((error) => isWrongType(error, union))
      .map((error) => (error.params as Params).type);
    const replacement = matching ?? [
      { ...union, keyword: 'type', params: { type: types.join(' or ') } } as SchemaError,
    ];
    reduced = reduced.filter((error) => error !== union && !below.includes(error)).concat(replacement);
  }
  return reduced;
}

function branchOf(union: SchemaError, error: SchemaError): string {
  return error.schemaPath.slice(`${union.schemaPath}/anyOf/`.length).split('/', 1)[0] ?? '';
}

function isWrongType(error: SchemaError, union: SchemaError): boolean {
  return error.keyword === 'type' && error.instancePath === union.instancePath;
}

/** Whether the error is about the member `type`, by which the alternatives differ. */
function isWrongVariant({ keyword, instancePath, params }: SchemaError, union: SchemaError): boolean {
  const isMissing = keyword === 'required' && names((params as Params).requiredProperties).includes('type');
  return instancePath === `${union.instancePath}/type` || (isMissing && instancePath === union.instancePath);
}

/** One error that lists the values of the member `type`. Undefined when no alternative names one. */
function unknownVariant(below: SchemaError[], union: SchemaError): SchemaError[] | undefined {
  const wrong = below.filter(
    ({ keyword, instancePath }) => keyword === 'const' && instancePath === `${union.instancePath}/type`,
  );
  const [first] = wrong;
  if (!first) return undefined;
  const allowedValues = [...new Set(wrong.map(({ params }) => (params as Params).allowedValue))];
  return [{ ...first, keyword: 'enum', params: { allowedValues } } as SchemaError];
}

function explain({ keyword, schemaPath, instancePath, params, message }: SchemaError): FieldProblem[] {
  const details = params as Params;
  const subject = schemaPath.endsWith('/propertyNames') ? 'the name ' : '';
  const at = (text: string) => [{ pointer: instancePath, message: subject + text }];
  switch (keyword) {
    // This keyword fails for members that `additionalProperties: false` forbids.
    case 'boolean':
      return at('is not a known member');
    // These keywords repeat the errors of the members for their object.
    case 'additionalProperties':
    case 'propertyNames':
      return [];
    case 'required':
      return names(details.requiredProperties).map((name) => ({
        pointer: instancePath + pointerStep(name),
        message: 'is required',
      }));
    case 'enum':
      return at(`must be one of ${names(details.allowedValues).join(', ')}`);
    case 'const':
      return at(`must be ${JSON.stringify(details.allowedValue)}`);
    case 'type':
      return at(`must be ${withArticle(String(details.type))}`);
    case 'minimum':
    case 'exclusiveMinimum':
      return at(`must be at least ${details.limit}`);
    case 'maximum':
      return at(`must be at most ${details.limit}`);
    case 'minLength':
      return at(details.limit === 1 ? 'must not be empty' : `must have at least ${details.limit} characters`);
    case 'maxLength':
      return at(`must have at most ${details.limit} characters`);
    case 'maxProperties':
      return at(`must have at most ${details.limit} members`);
    case 'minItems':
      return at(`must have at least ${details.limit} items`);
    default:
      return at(message);
  }
}

function names(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function withArticle(types: string): string {
  return types
    .replace(/\b(string|number|boolean)\b/g, 'a $1')
    .replace(/\b(integer|object|array)\b/g, 'an $1');
}
