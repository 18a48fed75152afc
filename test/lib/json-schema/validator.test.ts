import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { findSchemaProblem } from '../../../lib/json-schema/schema.ts';
import { SchemaValidator } from '../../../lib/json-schema/validator.ts';

let validator: SchemaValidator;

beforeAll(() => {
  validator = new SchemaValidator(systemClock);
});
afterAll(() => validator[Symbol.asyncDispose]());

function validate(schema: unknown, json: string) {
  expect(findSchemaProblem(schema)).toBeUndefined();
  return validator.validate({ schemaJson: JSON.stringify(schema), json });
}

const ORDER = {
  type: 'object',
  required: ['total'],
  additionalProperties: false,
  properties: { total: { type: 'integer' }, lines: { type: 'array', items: { $ref: '#/$defs/line' } } },
  $defs: { line: { type: 'string', minLength: 2 } },
};

describe('SchemaValidator.validate', () => {
  it('returns valid for a value that matches', async () => {
    expect(await validate(ORDER, '{"total": 3, "lines": ["ab"]}')).toEqual({ kind: 'valid' });
    expect(await validate(true, 'null')).toEqual({ kind: 'valid' });
  });

  it('returns each problem with a pointer into the value', async () => {
    expect(await validate(ORDER, '{"lines": ["a", 1], "more": true}')).toEqual({
      kind: 'invalid',
      problems: expect.arrayContaining([
        { pointer: '/total', message: 'is required' },
        { pointer: '/lines/0', message: 'must have at least 2 characters' },
        { pointer: '/lines/1', message: 'must be a string' },
        { pointer: '/more', message: 'is not a known member' },
      ]),
    });
  });

  it('returns invalid for text that is no JSON, and for a value that is nested too deeply', async () => {
    expect(await validate({}, 'Here: {}')).toEqual({
      kind: 'invalid',
      problems: [{ pointer: '', message: 'must be JSON' }],
    });
    expect(await validate({}, '['.repeat(200_000) + ']'.repeat(200_000))).toEqual({
      kind: 'invalid',
      problems: [{ pointer: '', message: 'must not be nested deeper than 100 levels' }],
    });
  });

  it.each([
    ['an expression of exponential time', { pattern: '^(a+)+$' }, JSON.stringify(`${'a'.repeat(60)}!`)],
    ['a schema that recurses without an end', { $ref: '#' }, '1'],
    ['alternatives that double with each level', doubling(18), nestedArrays(18)],
    ['a comparison of all items with each other', { uniqueItems: true, items: hugeEnum() }, manyItems()],
  ])('returns too_expensive for %s and lets the event loop turn meanwhile', async (_, schema, json) => {
    let turns = 0;
    let running = true;
    const count = () => {
      turns++;
      if (running) setImmediate(count);
    };
    count();
    const outcome = await validate(schema, json);
    running = false;
    expect(outcome.kind).toBe('too_expensive');
    expect(turns).toBeGreaterThan(5);
    expect(await validate(ORDER, '{"total": 1}')).toEqual({ kind: 'valid' });
  });

  it('answers concurrent validations in order, also behind an expensive one', async () => {
    const expensive = validate({ pattern: '^(a+)+$' }, JSON.stringify(`${'a'.repeat(60)}!`));
    const others = Array.from({ length: 20 }, (_, index) => validate({ maximum: 9 }, String(index)));
    expect((await expensive).kind).toBe('too_expensive');
    const kinds = (await Promise.all(others)).map(({ kind }) => kind);
    expect(kinds).toEqual([...Array(10).fill('valid'), ...Array(10).fill('invalid')]);
  });
});

/** Each level evaluates the next one in several branches, and none of them matches. */
function doubling(levels: number): unknown {
  const $defs: Record<string, unknown> = { [`l${levels}`]: false };
  for (let level = 0; level < levels; level++) {
    const next = { items: { $ref: `#/$defs/l${level + 1}` } };
    $defs[`l${level}`] = { anyOf: [next, next, next] };
  }
  return { $ref: '#/$defs/l0', $defs };
}

function nestedArrays(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels);
}

function hugeEnum() {
  return { enum: Array.from({ length: 5_000 }, (_, index) => `x${index}`) };
}

function manyItems(): string {
  return JSON.stringify(Array.from({ length: 300_000 }, (_, index) => `y${index}`));
}
