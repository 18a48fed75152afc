/** The JSON Schema keywords that the schemas of the edge use. */
interface Schema {
  type?: string;
  examples?: unknown[];
  default?: unknown;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  items?: Schema;
  minimum?: number;
}

/** Returns a value that matches a schema: its own example, or one that is composed of the examples of its members. */
export function exampleOf(schema: Schema): unknown {
  const { examples, oneOf, anyOf = oneOf, allOf, properties, items } = schema;
  if (examples) return examples[0];
  const fixed = schema.const ?? schema.default ?? schema.enum?.[0];
  if (fixed !== undefined) return fixed;
  if (anyOf) return exampleOf(anyOf[0] ?? {});
  if (allOf) return Object.assign({}, ...allOf.map(exampleOf));
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(properties ?? {}).map(([name, member]) => [name, exampleOf(member)]),
      );
    case 'array':
      return items ? [exampleOf(items)] : [];
    case 'integer':
    case 'number':
      return schema.minimum ?? 0;
    case 'boolean':
      return true;
    case 'string':
      return '…';
    default:
      return null;
  }
}
