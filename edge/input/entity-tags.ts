import { hash } from 'node:crypto';

/** A single entity tag at the beginning of a list (RFC 9110, section 8.8.3). */
const TAG = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/;
const DIGEST_CHARACTERS = 22;

/** Returns the entity tag of a response text. It is weak, because the text may be compressed. */
export function weakTag(text: string): string {
  return `W/"${hash('sha256', text, 'base64url').slice(0, DIGEST_CHARACTERS)}"`;
}

/**
 * Returns whether a list of entity tags in If-Match or If-None-Match contains the tag. A weak comparison ignores whether
 * the tags are weak.
 */
export function matchesTag(list: string, tag: string, comparison: 'weak' | 'strong'): boolean {
  if (list.trim() === '*') return true;
  const opaque = (one: string) => (comparison === 'weak' ? one.replace(/^W\//, '') : one);
  let rest = list.trimStart();
  for (let one = TAG.exec(rest)?.[0]; one !== undefined; one = TAG.exec(rest)?.[0]) {
    if (opaque(one) === opaque(tag)) return true;
    rest = rest.slice(one.length).replace(/^[ \t,]+/, '');
  }
  return false;
}
