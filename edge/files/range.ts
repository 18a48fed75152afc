import type { IncomingMessage } from 'node:http';
import { refuse } from '../../lib/errors.ts';

/** A range of bytes. `last` is inclusive. */
export interface RequestedRange {
  first: number;
  last: number;
}

export const lengthOf = ({ first, last }: RequestedRange): number => last - first + 1;

const SINGLE = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i;

/**
 * The requested range of a file; undefined for the complete file. Several ranges, other units and malformed ranges select the
 * complete file, as RFC 9110 allows. Refuses with RANGE_NOT_SATISFIABLE.
 */
export function requestedRange(
  { headers, method }: IncomingMessage,
  size: number,
  etag: string,
): RequestedRange | undefined {
  const { range } = headers;
  const ifRange = headers['if-range'];
  // An empty file has no ranges. Clients that always request the first bytes get the complete file.
  if (range === undefined || method !== 'GET' || size === 0) return undefined;
  // Responses have no Last-Modified, so a date never matches.
  if (ifRange !== undefined && ifRange !== etag) return undefined;
  const [, from = '', to = ''] = SINGLE.exec(range) ?? [];
  if (from === '' && to === '') return undefined;
  if (from === '') {
    const count = Math.min(Number(to), size);
    if (count === 0) throw rangeNotSatisfiable(size);
    return { first: size - count, last: size - 1 };
  }
  const first = Number(from);
  if (to !== '' && Number(to) < first) return undefined;
  if (first >= size) throw rangeNotSatisfiable(size);
  return { first, last: to === '' ? size - 1 : Math.min(Number(to), size - 1) };
}

function rangeNotSatisfiable(size: number) {
  return refuse(
    'RANGE_NOT_SATISFIABLE',
    `The requested range is outside of the file, which has ${size} bytes.`,
  );
}
