import { hash } from 'node:crypto';

/** A single entity tag at the beginning of a list (RFC 9110, section 8.8.3). */
const TAG = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/;
const SEPARATOR = /^[ \t]*,[ \t,]*/;
const DIGEST_CHARACTERS = 22;

/** Returns the entity tag of a response text. It is weak, because the text may be compressed. */
export function weakTag(text: string): string {
  return `W/"${hash('sha256', text, 'base64url').slice(0, DIGEST_CHARACTERS)}"`;
}

/**
 * Returns the entity tags of If-Match or If-None-Match: `*` for any tag, and undefined for a malformed list. Empty
 * elements are skipped, as RFC 9110 section 5.6.1 requires.
 */
export function parseEntityTags(list: string): '*' | string[] | undefined {
  if (list.trim() === '*') return '*';
  const tags: string[] = [];
  let rest = list.replace(/^[ \t,]+/, '');
  while (rest !== '') {
    const tag = TAG.exec(rest)?.[0];
    if (tag === undefined) return undefined;
    tags.push(tag);
    rest = rest.slice(tag.length);
    const separator = SEPARATOR.exec(rest)?.[0];
    if (separator === undefined) return rest.trim() === '' ? tags : undefined;
    rest = rest.slice(separator.length);
  }
  return tags.length === 0 ? undefined : tags;
}

/** Returns whether a tag that is not weak is in the tags of If-Match. Weak tags never match. */
export function matchesStrongly(tags: '*' | string[], tag: string): boolean {
  return tags === '*' || (!tag.startsWith('W/') && tags.includes(tag));
}

/** Returns whether If-None-Match contains the tag, weak or not. A malformed list contains no tag. */
export function matchesWeakly(list: string, tag: string): boolean {
  const tags = parseEntityTags(list) ?? [];
  const opaque = (one: string) => one.replace(/^W\//, '');
  return tags === '*' || tags.some((one) => opaque(one) === opaque(tag));
}
