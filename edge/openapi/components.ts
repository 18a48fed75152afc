/** The named schemas of the document. */
export type Components = Record<string, object>;

/** Converts a schema to plain JSON. Parts with a `title` move to the components and are replaced by references. */
export function collect(schema: object, components: Components): object {
  const plain = JSON.parse(JSON.stringify(schema));
  return move(plain, components) as object;
}

function move(value: unknown, components: Components): unknown {
  if (Array.isArray(value)) return value.map((item) => move(item, components));
  if (typeof value !== 'object' || value === null) return value;
  const moved = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, move(member, components)]),
  );
  const { title, ...schema } = moved;
  const isSchema = typeof title === 'string' && ('type' in schema || 'anyOf' in schema);
  if (!isSchema) return moved;
  components[title] = schema;
  return { $ref: `#/components/schemas/${title}` };
}
