/** Schemas that have a name of their own, as the document refers to them. */
export type Components = Record<string, object>;

/** A schema as plain JSON. Every part with a `title` moves into the components, and a reference stays in its place. */
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
