import fc from 'fast-check';
import { anyHeader, invalidKey, notJson } from './headers.ts';
import type { Objects } from './objects.ts';
import { unknownParameter, withQuery } from './queries.ts';
import type { HttpRequest } from './send.ts';

/** Malformed requests of one operation, or of one header or query parameter of several. */
export interface MalformedOperation {
  name: string;
  /** The operation of the OpenAPI document whose schema invalid bodies must not match. */
  operationId?: string;
  /** `fits` tells whether a body matches the schema in the OpenAPI document. */
  requests(objects: Objects, fits: (body: unknown) => boolean): fc.Arbitrary<HttpRequest>;
  /** Some of the requests are valid. They only read. */
  mayRead?: true;
}

export const JSON_TYPE = { 'Content-Type': 'application/json' };

/** A short text of any characters. */
export const word = fc.string({ unit: 'binary', maxLength: 12 });

export const asJson = (values: fc.Arbitrary<object>) => values.map((value) => JSON.stringify(value));

export const merged = (...parts: fc.Arbitrary<object>[]) =>
  fc.tuple(...parts).map((values): Record<string, unknown> => Object.assign({}, ...values));

export const waitSeconds = fc.record({ wait_seconds: fc.integer({ min: 0, max: 60 }) }, { requiredKeys: [] });

/** Requests with invalid bodies, and requests with valid bodies that are malformed elsewhere. */
export function jsonRequests(
  method: string,
  path: string,
  { valid, invalid }: { valid: fc.Arbitrary<object>; invalid: fc.Arbitrary<string | Uint8Array> },
): fc.Arbitrary<HttpRequest> {
  const request = { method, path, headers: JSON_TYPE };
  const elsewhere = fc.oneof(
    notJson.map((type) => ({ ...request, headers: { 'Content-Type': type } })),
    unknownParameter.map((pair) => ({ ...request, path: withQuery(path, [pair]) })),
  );
  return fc.oneof(
    { arbitrary: invalid.map((body): HttpRequest => ({ ...request, body })), weight: 12 },
    {
      arbitrary: fc.tuple(elsewhere, asJson(valid)).map(([other, body]): HttpRequest => ({ ...other, body })),
      weight: 1,
    },
  );
}

/** Requests with a valid body, or none, and a malformed Idempotency-Key or an If-Match that is not evaluated. */
export function withInvalidHeader(
  method: string,
  path: string,
  valid?: fc.Arbitrary<object>,
): fc.Arbitrary<HttpRequest> {
  const header: fc.Arbitrary<Record<string, string>> = fc.oneof(
    invalidKey.map((key) => ({ 'Idempotency-Key': key })),
    anyHeader.map((match) => ({ 'If-Match': match })),
  );
  if (!valid) return header.map((headers) => ({ method, path, headers }));
  return fc
    .tuple(asJson(valid), header)
    .map(([body, headers]) => ({ method, path, headers: { ...JSON_TYPE, ...headers }, body }));
}
