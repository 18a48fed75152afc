import fc from 'fast-check';

export type QueryPair = readonly [name: string, value: string];

/** Appends a query to a path, percent-encoded. */
export function withQuery(path: string, pairs: readonly QueryPair[]): string {
  const encode = (text: string) => encodeURIComponent(text.toWellFormed());
  return pairs.length === 0
    ? path
    : `${path}?${pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&')}`;
}

const word = fc.string({ unit: 'binary', maxLength: 12 });

/** Parameters that no operation has. */
export const unknownParameter: fc.Arbitrary<QueryPair> = fc
  .tuple(
    fc.oneof(
      fc.constantFrom('__proto__', 'constructor', 'limit[]', 'limit[a]', 'metadata[a', 'Limit', 'a.b'),
      word.map((text) => `x-${text}`),
    ),
    word,
  )
  .map((pair) => pair);

/** Values of a query parameter that is a whole number between two limits. */
export const notWithin = (min: number, max: number) =>
  fc.oneof(
    word.filter((text) => !/^-?\d+$/.test(text)),
    fc.integer({ min: max + 1 }).map(String),
    fc.integer({ max: min - 1 }).map(String),
    fc.constantFrom('1e1', '0x1', '1.0', ' 1', '+1', '١', '9'.repeat(30)),
  );

const day = fc.constantFrom(
  '2026-02-30',
  '2026-13-01',
  '0000-01-01',
  '2026-1-1',
  '20260101',
  '+002026-01-01',
);
const notATime = fc.oneof(
  word,
  day.map((text) => `${text}T00:00:00Z`),
  fc.constantFrom('2026-01-01', '2026-01-01T24:00:00Z', '2026-01-01T00:00:00', '2026-01-01 00:00:00Z', '\0'),
  fc
    .constant('2026-01-01T00:00:00.')
    .chain((text) => fc.nat({ max: 50 }).map((n) => text + '0'.repeat(n + 40))),
);

/** Filters of a list that are refused. */
export const invalidFilters: fc.Arbitrary<QueryPair[]> = fc.oneof(
  fc.tuple(fc.constantFrom('created_after', 'created_before'), notATime).map((pair) => [pair]),
  word.map((value): QueryPair[] => [['metadata', value]]),
  fc
    .uniqueArray(fc.string({ minLength: 1, maxLength: 9 }), { minLength: 6, maxLength: 9 })
    .map((keys) => keys.map((key): QueryPair => [`metadata[${key}]`, 'a'])),
  fc.string({ minLength: 65, maxLength: 80 }).map((key): QueryPair[] => [[`metadata[${key}]`, 'a']]),
  fc.string({ minLength: 501, maxLength: 510 }).map((value): QueryPair[] => [['metadata[a]', value]]),
  word.map((value): QueryPair[] => [['metadata[]', value]]),
  fc.tuple(word, word).map(([one, other]): QueryPair[] => [
    ['metadata[a]', one],
    ['metadata[a]', other],
  ]),
  word.map((text): QueryPair[] => [['metadata[a]', `${text}\0`]]),
  word.map((text): QueryPair[] => [[`metadata[a\0${text}]`, 'a']]),
  notWithin(1, 100).map((value): QueryPair[] => [['limit', value]]),
  fc.tuple(unknownParameter).map((pairs) => [...pairs]),
  word.map((value): QueryPair[] => [['cursor', `${value}?`]]),
);
