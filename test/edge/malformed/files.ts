import fc from 'fast-check';
import { invalidBytesHeaders, notMatching } from './headers.ts';
import { type QueryPair, unknownParameter, withQuery } from './queries.ts';
import { type MalformedOperation, word } from './request-forms.ts';
import type { HttpRequest } from './send.ts';

const BYTES = { 'Content-Type': 'application/octet-stream' };
const BODY = 'Hello';

interface ByteRequests {
  method: string;
  path: string;
  /** A query with which the request is valid. */
  valid: QueryPair[];
  queries: fc.Arbitrary<QueryPair[]>;
  headers: fc.Arbitrary<Record<string, string>>;
}

/** Requests with bytes, of which the query or the headers are malformed. */
function byteRequests({ method, path, valid, queries, headers }: ByteRequests): fc.Arbitrary<HttpRequest> {
  const request = { method, path: withQuery(path, valid), headers: BYTES, body: BODY };
  const notDecodable = fc
    .tuple(fc.constantFrom('%', '%zz', '%ff', '%c3%28', '%ed%a0%80'), fc.constantFrom('name', 'path', 'x'))
    .map(([text, name]) => `${request.path}&${name}=${text}`);
  return fc.oneof(
    { arbitrary: queries.map((query) => ({ ...request, path: withQuery(path, query) })), weight: 4 },
    { arbitrary: headers.map((added) => ({ ...request, headers: { ...BYTES, ...added } })), weight: 2 },
    { arbitrary: notDecodable.map((query) => ({ ...request, path: query })), weight: 1 },
  );
}

/** A valid query with another parameter, without one, or with one of them twice. */
const invalidQueries = (valid: QueryPair[], wrong: fc.Arbitrary<QueryPair>) =>
  fc.oneof(
    fc.tuple(fc.shuffledSubarray(valid), wrong).map(([pairs, pair]) => replaced(pairs, pair)),
    unknownParameter.map((pair) => [...valid, pair]),
    fc.constantFrom(...valid).map((pair) => [...valid, pair]),
  );

const replaced = (pairs: readonly QueryPair[], pair: QueryPair) => [
  ...pairs.filter(([name]) => name !== pair[0]),
  pair,
];

const invalidPath = fc.oneof(
  word.map((text) => `../${text}`),
  word.map((text) => `/${text}`),
  word.map((text) => `${text}\0`),
  fc.integer({ min: 256, max: 300 }).map((length) => 'x'.repeat(length)),
  fc.constantFrom('', '.', 'a//b', 'a/', '.ahs-x'),
);
const invalidMediaType = fc.oneof(
  word.map((text) => `${text}?`),
  fc.constantFrom('plain', 'a/b/c', 'text/ plain', 'text/plain\0', `text/${'x'.repeat(300)}`),
);
const invalidName = fc.oneof(
  word.map((text) => `${text}\u0001`),
  fc.integer({ min: 256, max: 300 }).map((length) => 'x'.repeat(length)),
  fc.integer({ min: 128, max: 200 }).map((length) => 'ä'.repeat(length)),
);

/** Operations that store bytes. */
export const BYTE_OPERATIONS: MalformedOperation[] = [
  {
    name: 'POST /uploads',
    requests() {
      const valid: QueryPair[] = [
        ['media_type', 'image/png'],
        ['name', 'a.png'],
      ];
      const wrong = fc.oneof(
        invalidMediaType.map((type): QueryPair => ['media_type', type]),
        invalidName.map((name): QueryPair => ['name', name]),
      );
      const headers = fc.oneof(
        invalidBytesHeaders,
        notMatching.map((tags) => ({ 'If-Match': tags })),
      );
      return byteRequests({
        method: 'POST',
        path: '/uploads',
        valid,
        queries: invalidQueries(valid, wrong),
        headers,
      });
    },
  },
  {
    name: 'PUT /sessions/{session_id}/files/content',
    requests({ session }) {
      const valid: QueryPair[] = [['path', 'b.txt']];
      const queries = fc.oneof(
        invalidQueries(
          valid,
          invalidPath.map((path): QueryPair => ['path', path]),
        ),
        fc.constant<QueryPair[]>([]),
      );
      const headers = fc.oneof(
        invalidBytesHeaders,
        fc.constantFrom('a', '"1', '*, "1"', '"1" "2"').map((tags) => ({ 'If-Match': tags })),
        notMatching.map((tags) => ({ 'If-None-Match': tags })),
        fc.constant({ 'If-Match': '*', 'If-None-Match': '*' }),
      );
      const path = `/sessions/${session}/files/content`;
      return byteRequests({ method: 'PUT', path, valid, queries, headers });
    },
  },
];
