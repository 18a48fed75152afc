import fc from 'fast-check';

/** Values that few members allow. */
export const odd: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom<unknown>(
    ...['', '\0', '\ud800', '../a', '/etc/passwd', 'http://a/b', 'data:image/png;base64,AAAA', 'A==='],
    ...[{}, [], [[]], [{}], { '': null }, null, true, 0, -1, 1.5, 1e308, 2 ** 53],
  ),
);

type Json = Record<string, unknown>;
type Mutation = { at: number; kind: 'replace' | 'remove' | 'add'; name: string; value: unknown };

const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.nat(),
  kind: fc.constantFrom('replace', 'replace', 'remove', 'add'),
  name: fc.oneof(fc.constantFrom('type', 'data', 'id', 'name', 'path', '$ref'), fc.string({ maxLength: 8 })),
  value: odd,
});

/** Variants of valid bodies that the schema does not allow, as JSON texts. */
export function invalidVariants(valid: fc.Arbitrary<Json>, fits: (value: unknown) => boolean) {
  const byValue = fc
    .tuple(valid, fc.array(mutation, { minLength: 1, maxLength: 3 }))
    .map(([body, mutations]) => mutations.reduce(mutate, structuredClone(body)))
    .filter((body) => !fits(body))
    .map((body) => JSON.stringify(body));
  const byText = fc
    .tuple(valid, fc.nat(), fc.nat({ max: 12 }), fc.string({ unit: 'binary', maxLength: 6 }))
    .map(([body, at, removed, inserted]) => {
      const text = JSON.stringify(body);
      const index = at % text.length;
      return text.slice(0, index) + inserted + text.slice(index + removed);
    });
  const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.json());
  // Operations whose members are all optional accept an empty body.
  const notFitting = (text: string) => {
    if (text === '') return false;
    try {
      return !fits(JSON.parse(text));
    } catch {
      return true;
    }
  };
  return fc.oneof(
    { arbitrary: byValue, weight: 6 },
    { arbitrary: fc.oneof(byText, anyText).filter(notFitting), weight: 3 },
    { arbitrary: valid.map((body) => doubled(JSON.stringify(body))), weight: 1 },
    {
      arbitrary: fc.tuple(valid, fc.nat()).map(([body, at]) => notUtf8(JSON.stringify(body), at)),
      weight: 1,
    },
  );
}

/** Replaces, removes or adds one value anywhere in a body. */
function mutate(body: unknown, { at, kind, name, value: drawn }: Mutation): unknown {
  const value = structuredClone(drawn);
  const places = placesIn(body);
  const place = places[at % places.length];
  if (!place) return kind === 'add' && isRecord(body) ? { ...body, [name]: value } : value;
  const { holder, key } = place;
  const target = kind === 'add' ? (holder as Json)[key] : undefined;
  if (isRecord(target)) target[name] = value;
  else if (Array.isArray(target)) target.push(value);
  else if (kind === 'remove') Reflect.deleteProperty(holder, key);
  else (holder as Json)[key] = value;
  return body;
}

interface PlaceInBody {
  holder: object;
  key: string;
}

function placesIn(value: unknown): PlaceInBody[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [{ holder: value, key }, ...placesIn(inner)]);
}

function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The first member twice. */
function doubled(text: string): string {
  const member = /^\{("[^"]*"):/.exec(text)?.[1];
  return member === undefined ? '{' : `{${member}:null,${text.slice(1)}`;
}

/** A JSON text in which one byte cannot be part of UTF-8. */
function notUtf8(text: string, at: number): Uint8Array {
  const bytes = Buffer.from(text);
  bytes[at % bytes.length] = 0xff;
  return bytes;
}
