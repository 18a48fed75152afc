import { parsePairs } from './pairs.ts';

/** The form, for people. */
export const BASE_URL = 'a URL beginning with http:// or https://, without user, query and fragment';
export const KEY = 'a key of printable ASCII characters without blanks';
export const ENDPOINTS =
  'name=url pairs separated by commas; names of lower-case letters, digits and hyphens';
export const KEYS = 'name=key pairs separated by commas, special characters percent-encoded';

/** A URL under which paths are asked for; without a slash at its end. */
export function parseBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw new Error('is not such a URL');
  if (url.username || url.password || url.search || url.hash || /[?#]$/.test(text))
    throw new Error('is more than an address');
  return url.href.replace(/\/+$/, '');
}

/** What can stand in a header. */
export function parseKey(text: string): string {
  if (!/^[!-~]+$/.test(text)) throw new Error('is not such a key');
  return text;
}

/** Throws for a name that is `reserved`, or that is given twice. */
export function parseEndpoints(text: string, reserved: readonly string[]): Record<string, string> {
  const entries = text
    .split(',')
    .filter((part) => part.trim() !== '')
    .map((part) => {
      const [, name = '', url = ''] = /^\s*([^=]*?)\s*=(.*)$/.exec(part) ?? [];
      if (!/^[a-z0-9-]+$/.test(name)) throw new Error('is not such a list');
      if (reserved.includes(name)) throw new Error(`names an endpoint ${name}, and that name is taken`);
      return [name, parseBaseUrl(url.trim())] as const;
    });
  if (new Set(entries.map(([name]) => name)).size < entries.length)
    throw new Error('names an endpoint twice');
  return Object.fromEntries(entries);
}

export function parseKeys(text: string): Record<string, string> {
  const keys = parsePairs(text);
  for (const key of Object.values(keys)) parseKey(key);
  return keys;
}
