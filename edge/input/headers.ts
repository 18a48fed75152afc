import type { IncomingMessage } from 'node:http';
import { refuse } from '../../lib/errors.ts';

/** The request headers that routes read. */
export type RequestHeader =
  | 'Idempotency-Key'
  | 'If-Match'
  | 'If-None-Match'
  | 'If-Range'
  | 'Last-Event-ID'
  | 'Range';

const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/;
const VERSION_TAG = /^"([1-9]\d{0,8})"$/;

/** The Idempotency-Key; empty without one. */
export function idempotencyKey({ headers }: IncomingMessage): string {
  const key = headers['idempotency-key'];
  if (key === undefined) return '';
  if (typeof key === 'string' && VISIBLE_ASCII.test(key)) return key;
  throw refuse('INVALID_REQUEST', 'Idempotency-Key must be 1–255 visible ASCII characters and given once.');
}

/** The version in If-Match; undefined when the header is missing or `*`, which any version matches. */
export function ifMatch({ headers }: IncomingMessage): number | undefined {
  const tag = headers['if-match'];
  if (tag === undefined || tag === '*') return undefined;
  const version = VERSION_TAG.exec(tag)?.[1];
  if (version) return Number(version);
  throw refuse('INVALID_REQUEST', 'If-Match must be one version in double quotes, for example "3".');
}

/** The seq in Last-Event-ID; undefined without one. Clients that have received no event send an empty header. */
export function lastEventId({ headers }: IncomingMessage): number | undefined {
  const id = headers['last-event-id'];
  if (id === undefined || id === '') return undefined;
  if (typeof id === 'string' && /^\d{1,15}$/.test(id)) return Number(id);
  throw refuse('INVALID_REQUEST', 'Last-Event-ID must be the id of an event of this stream.');
}

/** All values of a header, in order and as received. */
export function occurrences(rawHeaders: readonly string[], lowerCaseName: string): string[] {
  const values: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (name.length === lowerCaseName.length && name.toLowerCase() === lowerCaseName) {
      values.push(rawHeaders[i + 1] ?? '');
    }
  }
  return values;
}
