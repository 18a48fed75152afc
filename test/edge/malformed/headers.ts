import fc from 'fast-check';

/** The characters that HTTP allows in the value of a header. */
const character = fc.constantFrom(
  ...Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)).filter((one) =>
    /[\t\x20-\x7e\x80-\xff]/.test(one),
  ),
);
const value = fc.string({ unit: character, maxLength: 20 });

/** Any value of a header. */
export const anyHeader = value;

/** Values of If-Match that are malformed or name no revision and no content. */
export const notMatching = fc.oneof(
  value.filter((text) => text.trim() !== '*' && !/"[0-9a-f]+"/.test(text)),
  fc.integer({ min: 1_000_000 }).map((revision) => `"${revision}"`),
  fc.constantFrom('"1', '1', '*, "1"', '"1" "2"', '', ',', 'W/', 'W/"1', "'1'", `"${'a'.repeat(64)}"`),
);

/** Values of Idempotency-Key that are malformed. */
export const invalidKey = fc.oneof(
  value.filter((text) => /[^\x21-\x7e]/.test(text.trim())),
  fc.integer({ min: 256, max: 300 }).map((length) => 'k'.repeat(length)),
  fc.constant(''),
);

/** Headers of a body of bytes that are refused. */
export const invalidBytesHeaders: fc.Arbitrary<Record<string, string>> = fc.oneof(
  value.map((text) => ({ 'Content-Type': `multipart/form-data;${text}` })),
  fc.constantFrom('gzip', 'br', 'identity, gzip', 'x').map((coding) => ({ 'Content-Encoding': coding })),
  invalidKey.map((key) => ({ 'Idempotency-Key': key })),
);

/** Media types that are not JSON in UTF-8. */
export const notJson = fc
  .oneof(value, fc.constantFrom('text/plain', 'application/json; charset=latin1', 'application/jsonx', ''))
  .filter((text) => !/^application\/json/i.test(text.trim()) || /latin1|jsonx/.test(text));
