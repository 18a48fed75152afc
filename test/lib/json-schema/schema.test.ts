import { describe, expect, it } from 'vitest';
import { findSchemaProblem } from '../../../lib/json-schema/schema.ts';

describe('findSchemaProblem', () => {
  it.each([
    ['a boolean', true],
    ['an empty object', {}],
    [
      'a draft 07 schema',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        $id: 'https://example.com/order',
        type: 'object',
        definitions: { line: { type: 'string', pattern: '^\\p{L}+$' } },
        properties: {
          lines: { type: 'array', items: [{ $ref: '#/definitions/line' }], additionalItems: false },
        },
        dependencies: { lines: ['total'], total: { required: ['lines'] } },
      },
    ],
    [
      'a draft 2020-12 schema that refers to itself',
      {
        $defs: {
          node: { $anchor: 'node', type: ['object', 'null'], properties: { next: { $ref: '#node' } } },
        },
        anyOf: [{ $ref: '#/$defs/node' }, { prefixItems: [{ const: { a: [1] } }], unevaluatedItems: false }],
        default: { unknown: [1] },
        'x-vendor': { any: 'annotation' },
      },
    ],
    ['a property with the name of a keyword', { properties: { type: { enum: [1] }, $ref: true, $id: {} } }],
    ['32 levels of properties', nested(31, (schema) => ({ properties: { a: schema } }))],
    ['32 levels of lists', nested(31, (schema) => ({ allOf: [schema] }))],
    ['64 KiB', ofSize(64 * 1024)],
  ])('accepts %s', (_, schema) => {
    expect(findSchemaProblem(schema)).toBeUndefined();
  });

  it.each([
    ['no schema', undefined, '', 'must be a JSON Schema: an object or a boolean'],
    ['a string', 'string', '', 'must be a JSON Schema: an object or a boolean'],
    ['a subschema that is an array', { not: [] }, '/not', 'must be a JSON Schema: an object or a boolean'],
    [
      'an unknown type',
      { properties: { 'a/b': { type: 'text' } } },
      '/properties/a~1b/type',
      /^must be one or/,
    ],
    ['an invalid expression', { pattern: '(' }, '/pattern', 'must be a valid regular expression'],
    [
      'an invalid name pattern',
      { patternProperties: { '[': {} } },
      '/patternProperties/[',
      /regular expression/,
    ],
    ['an empty list of alternatives', { anyOf: [] }, '/anyOf', 'must not be empty'],
    [
      'a required name that is not text',
      { required: [1] },
      '/required',
      'must be an array of different names',
    ],
    ['properties that are an array', { properties: [] }, '/properties', 'must be an object'],
    ['a negative length', { items: { maxLength: -1 } }, '/items/maxLength', 'must be a whole number from 0'],
    ['a draft 04 limit', { exclusiveMinimum: true }, '/exclusiveMinimum', 'must be a number'],
    ['a divisor of 0', { multipleOf: 0 }, '/multipleOf', 'must be a number greater than 0'],
    ['a remote reference', { $ref: 'https://example.com/a' }, '/$ref', /part of this schema/],
    ['a relative reference', { items: { $ref: 'other.json#/a' } }, '/items/$ref', /part of this schema/],
    [
      'a reference to a missing part',
      { $ref: '#/$defs/a' },
      '/$ref',
      'refers to a missing part of this schema',
    ],
    ['a reference to an inherited member', { $ref: '#/constructor' }, '/$ref', /missing part/],
    ['a reference to a missing anchor', { $ref: '#a' }, '/$ref', /missing part/],
    ['an id below the root', { items: { $id: 'a' } }, '/items/$id', /only the whole schema/],
    ['a keyword of the library', { '~refine': [] }, '/~0refine', 'is not an allowed keyword'],
    [
      '33 levels of properties',
      nested(32, (schema) => ({ properties: { a: schema } })),
      /\/a$/,
      /deeper than 32/,
    ],
    ['33 levels of a default', { default: nested(32, (value) => [value]) }, '/default', /deeper than 32/],
    ['100,000 levels', nested(100_000, (schema) => ({ not: schema })), '', /deeper than 32/],
    ['more than 64 KiB', ofSize(64 * 1024 + 1), '', 'must be at most 64 KiB of JSON'],
  ])('returns the problem of %s', (_, schema, pointer, message) => {
    expect(findSchemaProblem(schema)).toEqual({
      pointer: typeof pointer === 'string' ? pointer : expect.stringMatching(pointer),
      message: typeof message === 'string' ? message : expect.stringMatching(message),
    });
  });
});

function nested(levels: number, wrap: (inner: unknown) => unknown): unknown {
  let schema: unknown = {};
  for (let level = 0; level < levels; level++) schema = wrap(schema);
  return schema;
}

/** A schema of so many bytes of JSON. */
function ofSize(bytes: number) {
  return { title: 'a'.repeat(bytes - '{"title":""}'.length) };
}
