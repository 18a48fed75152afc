import { isClearlyValid } from '../../../../lib/json-schema/clearly-valid.ts';
import { describeProblems } from '../../../../lib/json-schema/describe-problems.ts';
import { findSchemaProblem } from '../../../../lib/json-schema/schema.ts';
import type { SchemaValidator } from '../../../../lib/json-schema/validator.ts';
import type { JsonObject } from '../../../../lib/mcp-catalogue/catalogue.ts';

/** Keywords with regular expressions or open-ended checks of a server, which are never run. */
const REMOVED = new Set(['pattern', 'patternProperties', 'format']);
/** Keywords whose members are schemas under names of the server's choice. */
const MAPS = new Set(['properties', '$defs', 'definitions', 'dependentSchemas', 'dependencies']);
/** Keywords whose values are no schemas. */
const VALUES = new Set(['enum', 'const', 'default', 'examples']);

/** Checks values against the schemas of servers. */
export class SchemaCheck {
  readonly #validator: Pick<SchemaValidator, 'validate'>;
  readonly #onUnchecked: () => void;
  /** Each schema without regular expressions; undefined for a schema that cannot be used. */
  readonly #usable = new WeakMap<object, UsableSchema | undefined>();

  constructor(validator: Pick<SchemaValidator, 'validate'>, onUnchecked: () => void) {
    this.#validator = validator;
    this.#onUnchecked = onUnchecked;
  }

  /**
   * Describes why a value does not match a schema; undefined for a match. A value also passes when the schema cannot be used
   * or the check exceeds its limits, because the server checks its input itself.
   */
  async problem(schema: JsonObject, value: unknown): Promise<string | undefined> {
    if (!this.#usable.has(schema)) this.#usable.set(schema, usableSchema(schema));
    const usable = this.#usable.get(schema);
    // Most values are valid, and the thread of the validator costs more time than the rest of a call.
    if (usable && isClearlyValid(usable.schema, value)) return undefined;
    const outcome =
      usable &&
      (await this.#validator.validate({ schemaJson: usable.json, json: JSON.stringify(value) ?? 'null' }));
    if (outcome === undefined || outcome.kind === 'too_expensive') this.#onUnchecked();
    return outcome?.kind === 'invalid' ? describeProblems(outcome.problems) : undefined;
  }
}

/** Keywords that can refuse more values when a keyword below them is missing. */
const INVERTING = new Set(['not', 'oneOf', 'if', 'contains', 'unevaluatedProperties', 'unevaluatedItems']);

interface UsableSchema {
  schema: unknown;
  json: string;
}

/** Undefined for a schema that could refuse valid values without its regular expressions. */
function usableSchema(schema: JsonObject): UsableSchema | undefined {
  const found = { removed: false, inverting: false, closed: false };
  const checked = withoutExpressions(schema, found);
  if (found.closed || (found.removed && found.inverting)) return undefined;
  if (findSchemaProblem(checked) !== undefined) return undefined;
  return { schema: checked, json: JSON.stringify(checked) };
}

interface Found {
  removed: boolean;
  inverting: boolean;
  /** Members that match a removed expression would be unknown ones. */
  closed: boolean;
}

/** The levels of a schema are limited by its review. */
function withoutExpressions(schema: unknown, found: Found): unknown {
  if (Array.isArray(schema)) return schema.map((one) => withoutExpressions(one, found));
  if (typeof schema !== 'object' || schema === null) return schema;
  const kept = Object.entries(schema).filter(([name]) => !REMOVED.has(name));
  found.removed ||= kept.length < Object.keys(schema).length;
  found.inverting ||= kept.some(([name]) => INVERTING.has(name));
  found.closed ||= 'patternProperties' in schema && 'additionalProperties' in schema;
  return Object.fromEntries(kept.map(([name, value]) => [name, keywordValue(name, value, found)]));
}

function keywordValue(name: string, value: unknown, found: Found): unknown {
  if (VALUES.has(name)) return value;
  if (!MAPS.has(name) || typeof value !== 'object' || value === null) return withoutExpressions(value, found);
  const members = Object.entries(value);
  return Object.fromEntries(members.map(([member, inner]) => [member, withoutExpressions(inner, found)]));
}
