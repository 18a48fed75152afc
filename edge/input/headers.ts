import type { IncomingMessage } from 'node:http';
import { refuse } from '../../lib/errors.ts';
import { parseEntityTags } from './entity-tags.ts';

/** The request headers that routes read. */
export type RequestHeader =
  | 'Idempotency-Key'
  | 'If-Match'
  | 'If-None-Match'
  | 'If-Range'
  | 'Last-Event-ID'
  | 'Range'
  | 'x-ahs-ai-sdk';

const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/;
/** Integers of at most 15 digits are exact. */
const REVISION_TAG = /^"([1-9]\d{0,14})"$/;

/** The Idempotency-Key; empty without one. */
export function idempotencyKey({ headers }: IncomingMessage): string {
  const key = headers['idempotency-key'];
  if (key === undefined) return '';
  if (typeof key === 'string' && VISIBLE_ASCII.test(key)) return key;
  throw refuse('INVALID_REQUEST', 'Idempotency-Key must be 1–255 visible ASCII characters and given once.');
}

/** The entity tags in If-Match; undefined without the header. Refuses a malformed header with INVALID_REQUEST. */
export function ifMatchTags({ headers }: IncomingMessage): '*' | string[] | undefined {
  const list = headers['if-match'];
  if (list === undefined) return undefined;
  const tags = parseEntityTags(list);
  if (tags) return tags;
  throw refuse('INVALID_REQUEST', 'If-Match must be `*` or a list of entity tags, for example "3".');
}

/**
 * The revisions in If-Match; undefined when the header is missing or `*`, which any revision matches. Weak tags and tags of
 * other resources are no revisions.
 */
export function ifMatch(request: IncomingMessage): { revisions: number[] } | undefined {
  const tags = ifMatchTags(request);
  if (tags === undefined || tags === '*') return undefined;
  return { revisions: tags.flatMap((tag) => REVISION_TAG.exec(tag)?.[1] ?? []).map(Number) };
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
