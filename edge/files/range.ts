import type { IncomingMessage } from 'node:http';
import { refuse } from '../../lib/errors.ts';

/** A part of a file, in bytes; the last one counts. */
export interface Range {
  first: number;
  last: number;
}

export const lengthOf = ({ first, last }: Range): number => last - first + 1;

const SINGLE = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i;
const TAG = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/;

/** What a request says about the version that it has, or wants (https://www.rfc-editor.org/rfc/rfc9110#section-13). */
export type Standing = 'wanted' | 'known' | 'changed';

/** Compares an entity tag with If-Match and If-None-Match, in this order. */
export function standingOf({ headers }: IncomingMessage, etag: string): Standing {
  const match = headers['if-match'];
  if (match !== undefined && !names(match, etag, false)) return 'changed';
  const noneMatch = headers['if-none-match'];
  if (noneMatch !== undefined && names(noneMatch, etag, true)) return 'known';
  return 'wanted';
}

/**
 * The part of a file that a request asks for; undefined for all of it. Several parts at once, another unit or what is no
 * range is answered with the whole, as RFC 9110 allows. Refused with RANGE_NOT_SATISFIABLE.
 */
export function rangeOf({ headers, method }: IncomingMessage, size: number, etag: string): Range | undefined {
  const { range } = headers;
  const onlyIf = headers['if-range'];
  // There is nothing of which an empty file could have a part: clients that always ask for the first bytes get it.
  if (range === undefined || method !== 'GET' || size === 0) return undefined;
  // A date never fits, as we name none.
  if (onlyIf !== undefined && onlyIf !== etag) return undefined;
  const [, from = '', to = ''] = SINGLE.exec(range) ?? [];
  if (from === '' && to === '') return undefined;
  if (from === '') {
    const count = Math.min(Number(to), size);
    if (count === 0) throw notThere(size);
    return { first: size - count, last: size - 1 };
  }
  const first = Number(from);
  if (to !== '' && Number(to) < first) return undefined;
  if (first >= size) throw notThere(size);
  return { first, last: to === '' ? size - 1 : Math.min(Number(to), size - 1) };
}

function notThere(size: number) {
  return refuse('RANGE_NOT_SATISFIABLE', `the file has ${size} bytes`);
}

/** Whether a list of entity tags names this one; a weak comparison overlooks that a tag is weak. */
function names(list: string, etag: string, weak: boolean): boolean {
  if (list.trim() === '*') return true;
  let rest = list.trimStart();
  for (let tag = TAG.exec(rest)?.[0]; tag !== undefined; tag = TAG.exec(rest)?.[0]) {
    if (tag === etag || (weak && tag === `W/${etag}`)) return true;
    rest = rest.slice(tag.length).replace(/^[ \t,]+/, '');
  }
  return false;
}
