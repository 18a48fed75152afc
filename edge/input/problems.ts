import type { TLocalizedValidationError } from 'typebox/error';
import type { FieldProblem } from '../../lib/errors.ts';
import { step } from './pointer.ts';

type SchemaError = TLocalizedValidationError;
type Params = Record<string, unknown>;

/** What is wrong with a value, one problem for each member, in words for people. */
export function problemsOf(errors: SchemaError[]): FieldProblem[] {
  return withoutAlternatives(errors).flatMap(explain);
}

/**
 * Of the errors below an `anyOf`, keeps those of the alternative that was meant: the one whose type the
 * value has. When there is none, one error says which types there are.
 */
function withoutAlternatives(errors: SchemaError[]): SchemaError[] {
  let kept = errors;
  for (const union of errors.filter((error) => error.keyword === 'anyOf')) {
    const below = kept.filter((error) => error.schemaPath.startsWith(`${union.schemaPath}/anyOf/`));
    const branches = Map.groupBy(below, (error) => branchOf(union, error));
    const meant = [...branches.values()].find((branch) => !branch.some((error) => isWrongType(error, union)));
    const types = below
      .filter((error) => isWrongType(error, union))
      .map((error) => (error.params as Params).type);
    const replacement = meant ?? [
      { ...union, keyword: 'type', params: { type: types.join(' or ') } } as SchemaError,
    ];
    kept = kept.filter((error) => error !== union && !below.includes(error)).concat(replacement);
  }
  return kept;
}

function branchOf(union: SchemaError, error: SchemaError): string {
  return error.schemaPath.slice(`${union.schemaPath}/anyOf/`.length).split('/', 1)[0] ?? '';
}

function isWrongType(error: SchemaError, union: SchemaError): boolean {
  return error.keyword === 'type' && error.instancePath === union.instancePath;
}

function explain({ keyword, schemaPath, instancePath, params, message }: SchemaError): FieldProblem[] {
  const said = params as Params;
  const subject = schemaPath.endsWith('/propertyNames') ? 'the name ' : '';
  const at = (text: string) => [{ pointer: instancePath, message: subject + text }];
  switch (keyword) {
    // Only where nothing more is allowed does a member fail for being there.
    case 'boolean':
      return at('is not a known member');
    // Say once more, for the object, what is said of its members.
    case 'additionalProperties':
    case 'propertyNames':
      return [];
    case 'required':
      return names(said.requiredProperties).map((name) => ({
        pointer: instancePath + step(name),
        message: 'is required',
      }));
    case 'enum':
      return at(`must be one of ${names(said.allowedValues).join(', ')}`);
    case 'const':
      return at(`must be ${JSON.stringify(said.allowedValue)}`);
    case 'type':
      return at(`must be ${withArticle(String(said.type))}`);
    case 'minimum':
    case 'exclusiveMinimum':
      return at(`must be at least ${said.limit}`);
    case 'maximum':
      return at(`must be at most ${said.limit}`);
    case 'minLength':
      return at(said.limit === 1 ? 'must not be empty' : `must have at least ${said.limit} characters`);
    case 'maxLength':
      return at(`must have at most ${said.limit} characters`);
    case 'maxProperties':
      return at(`must have at most ${said.limit} members`);
    case 'minItems':
      return at(`must have at least ${said.limit} items`);
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
