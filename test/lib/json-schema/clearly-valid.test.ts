import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { isClearlyValid } from '../../../lib/json-schema/clearly-valid.ts';
import { findSchemaProblem } from '../../../lib/json-schema/schema.ts';
import { SchemaValidator } from '../../../lib/json-schema/validator.ts';

const validator = new SchemaValidator(systemClock);
afterAll(() => validator[Symbol.asyncDispose]());

const ISSUE = {
  type: 'object',
  required: ['title'],
  additionalProperties: false,
  properties: {
    title: { type: 'string', minLength: 1, maxLength: 10, description: 'A title.' },
    state: { enum: ['open', 'closed', null] },
    limit: { anyOf: [{ type: 'integer', minimum: 1, maximum: 100 }, { type: 'null' }] },
    labels: { type: 'array', minItems: 1, maxItems: 2, items: { type: ['string', 'number'] } },
  },
};

describe('isClearlyValid', () => {
  it.each([
    [ISSUE, { title: 'x' }],
    [ISSUE, { title: 'x', state: null, limit: 100, labels: ['a', 1.5] }],
    [{}, { any: [{ thing: true }] }],
    [true, 'x'],
  ])('returns true for %j and the matching value %j', (schema, value) => {
    expect(isClearlyValid(schema, value)).toBe(true);
  });

  it.each([
    ['a missing member', { state: 'open' }],
    ['an unknown member', { title: 'x', more: 1 }],
    ['another type', { title: 1 }],
    ['a text that is empty', { title: '' }],
    ['a text that is too long', { title: 'x'.repeat(11) }],
    ['a value outside of a list', { title: 'x', state: 'lost' }],
    ['a number below the range', { title: 'x', limit: 0 }],
    ['a number above the range', { title: 'x', limit: 101 }],
    ['a number with a fraction', { title: 'x', limit: 1.5 }],
    ['too few items', { title: 'x', labels: [] }],
    ['too many items', { title: 'x', labels: ['a', 'b', 'c'] }],
    ['an item of another type', { title: 'x', labels: [true] }],
    ['an array instead of an object', []],
  ])('returns false for %s', (_, value) => {
    expect(isClearlyValid(ISSUE, value)).toBe(false);
  });

  it.each([
    ['pattern', { pattern: '^x$' }],
    ['oneOf', { oneOf: [true] }],
    ['$ref', { $ref: '#/$defs/a', $defs: { a: true } }],
    ['an unknown keyword', { unknown: 1 }],
    ['a schema of further members', { additionalProperties: { type: 'string' } }],
  ])('leaves a schema with %s to the validator', (_, schema) => {
    expect(isClearlyValid(schema, {})).toBe(false);
  });

  it('leaves values with many or deep members, and schemas with many steps, to the validator', () => {
    expect(isClearlyValid({}, Array(9_000).fill(0))).toBe(true);
    expect(isClearlyValid({}, Array(11_000).fill(0))).toBe(false);
    expect(isClearlyValid({}, nested(100))).toBe(true);
    expect(isClearlyValid({}, nested(101))).toBe(false);
    const choices = Array.from({ length: 200 }, (_, index) => index);
    expect(isClearlyValid({ items: { enum: choices } }, Array(100).fill(199))).toBe(false);
  });

  it('returns true only for values that the validator accepts', async () => {
    await fc.assert(
      fc.asyncProperty(schemas, fc.jsonValue({ maxDepth: 3 }), async (schema, given) => {
        const value = JSON.parse(JSON.stringify(given));
        fc.pre(findSchemaProblem(schema) === undefined && isClearlyValid(schema, value));
        const request = { schemaJson: JSON.stringify(schema), json: JSON.stringify(value) };
        expect(await validator.validate(request)).toEqual({ kind: 'valid' });
      }),
      { numRuns: 200, maxSkipsPerRun: 1_000 },
    );
  });
});

function nested(levels: number): unknown {
  return levels === 0 ? 0 : [nested(levels - 1)];
}

const type = fc.constantFrom('array', 'boolean', 'integer', 'null', 'number', 'object', 'string');
const bound = fc.integer({ min: 0, max: 3 });
const { schema: schemas } = fc.letrec((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    fc.constant(true),
    fc.record(
      {
        type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1 })),
        enum: fc.array(fc.oneof(fc.string({ maxLength: 1 }), bound, fc.constant(null)), { minLength: 1 }),
        anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }),
        items: tie('schema'),
        properties: fc.dictionary(fc.string({ maxLength: 1 }), tie('schema')),
        required: fc.uniqueArray(fc.string({ maxLength: 1 }), { maxLength: 1 }),
        ...{
          minimum: bound,
          maximum: bound,
          minLength: bound,
          maxLength: bound,
          minItems: bound,
          maxItems: bound,
        },
        additionalProperties: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
  ),
}));
