import fc from 'fast-check';
import { odd } from './json-bodies.ts';

const KEYWORDS = [
  ...['type', '$ref', '$id', '$defs', '$schema', '$dynamicRef', 'pattern', 'properties', 'patternProperties'],
  ...['allOf', 'items', 'required', 'enum', 'const', 'format', 'minLength', 'dependentSchemas', 'not'],
];
const keyword = fc.constantFrom(...KEYWORDS);
const nested = (levels: number): object => (levels === 1 ? {} : { not: nested(levels - 1) });

/** JSON Schemas that are refused, around random keywords. */
export const invalidSchema = fc.oneof(
  fc
    .dictionary(keyword, fc.oneof(odd, fc.dictionary(keyword, odd)), { maxKeys: 5 })
    .map((schema) => ({ type: 'object', properties: { a: schema, b: { type: 'text' } } })),
  fc.integer({ min: 33, max: 90 }).map((levels) => ({ type: 'object', ...nested(levels) })),
  fc
    .constantFrom('https://example.com/a', 'a.json', '#/$defs/absent', '#absent', '//a')
    .map(($ref) => ({ type: 'object', properties: { a: { $ref } } })),
);

const TOOL = { name: 'locate', description: 'Locates the device.', input_schema: { type: 'object' } };

/** Client tools that are refused, without their type. */
export const invalidClientTool = fc.oneof(
  fc
    .oneof(
      fc.constantFrom('bash', 'ask_user', 'mcp__a__b', 'a b', 'ä', 'a.b'),
      fc.string({ unit: 'binary', minLength: 1 }).map((name) => `${name}/`),
    )
    .map((name) => ({ ...TOOL, name })),
  invalidSchema.map((input_schema) => ({ ...TOOL, input_schema })),
  fc
    .oneof(odd, fc.constantFrom('string', ['object', 'null']))
    .filter((type) => type !== 'object')
    .map((type) => ({ ...TOOL, input_schema: { type } })),
);

/** Overrides that match the schema and are refused for an agent that allows all overrides. */
export const invalidOverrides: fc.Arbitrary<Record<string, unknown>> = fc.oneof(
  invalidSchema.map((output_schema) => ({ output_schema })),
  invalidClientTool.map((tool) => ({ client_tools: [tool] })),
  fc.constant({ client_tools: [TOOL, TOOL] }),
  fc.constantFrom('allow', 'ask').map((permission) => ({ tools: [{ name: 'bash', permission }] })),
  fc.string({ minLength: 1 }).map((name) => ({ tools: [{ name: `${name}?`, permission: 'deny' }] })),
  fc.integer({ min: 51, max: 2 ** 31 - 1 }).map((max_tokens) => ({ budget: { max_tokens } })),
  fc.string({ minLength: 1 }).map((name) => ({ model: `rehearsal/${name}?` })),
  fc.string({ minLength: 1 }).map((name) => ({ model: `${name}\0` })),
  fc.constant({ system: { mode: 'append', text: '\ud800' } }),
);
