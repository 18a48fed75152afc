/** The parts of the document that operations share, by kind and name. */
export interface Components {
  schemas: Record<string, object>;
  responses: Record<string, object>;
  parameters: Record<string, object>;
  headers: Record<string, object>;
}

export const noComponents = (): Components => ({
  schemas: {},
  responses: {},
  parameters: {},
  headers: {},
});

/** Adds a component and returns a reference to it. Different components of one kind need different names. */
export function share(
  components: Components,
  kind: keyof Components,
  name: string,
  component: object,
): object {
  const known = components[kind][name];
  if (known && JSON.stringify(known) !== JSON.stringify(component))
    throw new Error(`The API document has two different ${kind} with the name ${name}.`);
  components[kind][name] = component;
  return { $ref: `#/components/${kind}/${name}` };
}

/** Converts a schema to plain JSON. Parts with a `title` move to the components and are replaced by references. */
export function collect(schema: object, components: Components): object {
  const plain = JSON.parse(JSON.stringify(schema));
  return move(plain, components) as object;
}

function move(value: unknown, components: Components): unknown {
  if (Array.isArray(value)) return value.map((item) => move(item, components));
  if (typeof value !== 'object' || value === null) return value;
  const moved = Object.fromEntries(
    Object.entries('discriminator' in value ? withMapping(value as DiscriminatedUnion) : value).map(
      ([name, member]) => [name, move(member, components)],
    ),
  );
  const { title, ...schema } = moved;
  const isSchema = typeof title === 'string' && SCHEMA_KEYWORDS.some((keyword) => keyword in schema);
  return isSchema ? share(components, 'schemas', title, schema) : moved;
}

/** A union of named object schemas, each with its own constant as the member that the discriminator names. */
interface DiscriminatedUnion {
  anyOf: UnionMember[];
  discriminator: { propertyName: string };
}

interface UnionMember {
  title: string;
  properties?: Record<string, { const?: string }>;
  allOf?: UnionMember[];
}

/** The union with `oneOf` and the mapping that OpenAPI requires, because the names of the members differ from the constants. */
function withMapping({ anyOf, discriminator, ...rest }: DiscriminatedUnion): object {
  const { propertyName } = discriminator;
  const constantOf = ({ properties, allOf = [] }: UnionMember): string | undefined =>
    properties?.[propertyName]?.const ?? allOf.map(constantOf).find((constant) => constant !== undefined);
  const mapping = anyOf.map((member) => [constantOf(member), `#/components/schemas/${member.title}`]);
  return { ...rest, oneOf: anyOf, discriminator: { propertyName, mapping: Object.fromEntries(mapping) } };
}

const SCHEMA_KEYWORDS = ['type', 'enum', 'anyOf', 'oneOf', 'allOf'];
