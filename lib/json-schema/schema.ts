import type { FieldProblem } from '../errors.ts';
import { KEYWORDS, type KeywordForm, TYPES } from './keywords.ts';
import { pointerStep } from './pointer.ts';
import { findReferenceProblem } from './references.ts';

const MAX_SCHEMA_BYTES = 64 * 1024;
/** The schema itself is level 1, and a subschema is one level below its schema. */
const MAX_SCHEMA_LEVELS = 32;
/** A level of subschemas is at most two levels of JSON: `properties` and the subschema. */
const MAX_JSON_LEVELS = 2 * MAX_SCHEMA_LEVELS + 2;

/**
 * Returns the first problem of a JSON Schema (an object or a boolean, drafts 07 to 2020-12), or undefined for a valid one.
 * The pointer is relative to the schema. `schema` is a parsed JSON value. The size limit bounds the work.
 */
export function findSchemaProblem(schema: unknown): FieldProblem | undefined {
  if (isDeeper(schema, MAX_JSON_LEVELS)) return tooDeep('');
  if (Buffer.byteLength(JSON.stringify(schema) ?? '') > MAX_SCHEMA_BYTES)
    return problem('', 'must be at most 64 KiB of JSON');
  return checkSchema(schema, { root: schema, pointer: '', level: 1 });
}

interface Position {
  root: unknown;
  pointer: string;
  level: number;
}

type Check = (value: unknown, position: Position) => FieldProblem | undefined;

function checkSchema(schema: unknown, position: Position): FieldProblem | undefined {
  if (position.level > MAX_SCHEMA_LEVELS) return tooDeep(position.pointer);
  if (typeof schema === 'boolean') return undefined;
  if (!isObject(schema)) return problem(position.pointer, 'must be a JSON Schema: an object or a boolean');
  return firstOf(Object.entries(schema), ([name, value]) => {
    // The validation library has keywords of its own that begin so.
    if (name.startsWith('~'))
      return problem(position.pointer + pointerStep(name), 'is not an allowed keyword');
    return CHECKS[KEYWORDS.get(name) ?? 'value'](value, below(position, name));
  });
}

const checkSubschema: Check = (value, position) =>
  checkSchema(value, { ...position, level: position.level + 1 });

const CHECKS: Record<KeywordForm, Check> = {
  schema: checkSubschema,
  schema_or_list: (value, position) =>
    Array.isArray(value) ? items(checkSubschema)(value, position) : checkSubschema(value, position),
  schema_list: (value, position) =>
    Array.isArray(value) && value.length === 0
      ? problem(position.pointer, 'must not be empty')
      : items(checkSubschema)(value, position),
  schema_map: members(checkSubschema),
  schema_or_names_map: members((value, position) =>
    Array.isArray(value) ? checkNames(value, position) : checkSubschema(value, position),
  ),
  names_map: members(checkNames),
  names: checkNames,
  list: (value, position) =>
    Array.isArray(value) ? checkValue(value, position) : problem(position.pointer, 'must be an array'),
  type: checkType,
  text: expect('a string', (value) => typeof value === 'string'),
  identifier: (value, { pointer }) =>
    typeof value === 'string' && pointer === '/$id' && URL.canParse(value, 'urn:schema:')
      ? undefined
      : problem(pointer, 'must be a URI, and only the whole schema may have one'),
  reference: (value, { root, pointer }) => {
    const message = findReferenceProblem(root, value);
    return message === undefined ? undefined : problem(pointer, message);
  },
  pattern: checkPattern,
  pattern_map: (value, position) =>
    members(checkSubschema)(value, position) ??
    firstOf(Object.keys(value as object), (pattern) => checkPattern(pattern, below(position, pattern))),
  number: expect('a number', (value) => typeof value === 'number'),
  positive: expect('a number greater than 0', (value) => typeof value === 'number' && value > 0),
  count: expect('a whole number from 0', (value) => Number.isSafeInteger(value) && Number(value) >= 0),
  flag: expect('a boolean', (value) => typeof value === 'boolean'),
  value: checkValue,
};

function checkValue(value: unknown, { pointer, level }: Position): FieldProblem | undefined {
  return isDeeper(value, MAX_SCHEMA_LEVELS - level) ? tooDeep(pointer) : undefined;
}

function checkNames(value: unknown, { pointer }: Position): FieldProblem | undefined {
  const valid =
    Array.isArray(value) &&
    value.every((name) => typeof name === 'string') &&
    new Set(value).size === value.length;
  return valid ? undefined : problem(pointer, 'must be an array of different names');
}

function checkType(value: unknown, { pointer }: Position): FieldProblem | undefined {
  const types = Array.isArray(value) ? value : [value];
  const valid =
    types.length > 0 && types.every((type) => TYPES.includes(type)) && new Set(types).size === types.length;
  return valid ? undefined : problem(pointer, `must be one or several of ${TYPES.join(', ')}`);
}

function checkPattern(value: unknown, { pointer }: Position): FieldProblem | undefined {
  if (typeof value !== 'string') return problem(pointer, 'must be a string');
  try {
    // Creating an expression parses it in linear time. Only matching can be expensive.
    new RegExp(value, 'u');
    return undefined;
  } catch {
    return problem(pointer, 'must be a valid regular expression');
  }
}

function expect(form: string, isValid: (value: unknown) => boolean): Check {
  return (value, { pointer }) => (isValid(value) ? undefined : problem(pointer, `must be ${form}`));
}

function items(check: Check): Check {
  return (value, position) =>
    Array.isArray(value)
      ? firstOf([...value.entries()], ([index, item]) => check(item, below(position, index)))
      : problem(position.pointer, 'must be an array');
}

function members(check: Check): Check {
  return (value, position) =>
    isObject(value)
      ? firstOf(Object.entries(value), ([name, member]) => check(member, below(position, name)))
      : problem(position.pointer, 'must be an object');
}

function firstOf<Item>(
  list: Item[],
  find: (item: Item) => FieldProblem | undefined,
): FieldProblem | undefined {
  for (const item of list) {
    const found = find(item);
    if (found) return found;
  }
  return undefined;
}

function below(position: Position, step: string | number): Position {
  return { ...position, pointer: position.pointer + pointerStep(step) };
}

/** Whether arrays and objects are nested deeper than so many levels. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels <= 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}

function tooDeep(pointer: string): FieldProblem {
  return problem(pointer, `must not be nested deeper than ${MAX_SCHEMA_LEVELS} levels`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function problem(pointer: string, message: string): FieldProblem {
  return { pointer, message };
}
