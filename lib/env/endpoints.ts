import { parsePairs } from './pairs.ts';

/** Descriptions of the expected forms. */
export const BASE_URL = 'a URL beginning with http:// or https://, without user, query and fragment';
export const KEY = 'a key of printable ASCII characters without blanks';
export const ENDPOINTS =
  'name=url pairs separated by commas; names of lower-case letters, digits and hyphens';
export const KEYS = 'name=key pairs separated by commas, special characters percent-encoded';

/** Returns the base URL without a trailing slash. */
export function parseBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw new Error('is not an http or https URL');
  if (url.username || url.password || url.search || url.hash || /[?#]$/.test(text))
    throw new Error('must not have a user, query or fragment');
  return url.href.replace(/\/+$/, '');
}

/** Accepts only text that is valid in an HTTP header. */
export function parseKey(text: string): string {
  if (!/^[!-~]+$/.test(text)) throw new Error('is not a valid key');
  return text;
}

/** Throws for a reserved or duplicate name. */
export function parseEndpoints(text: string, reserved: readonly string[]): Record<string, string> {
  const entries = text
    .split(',')
    .filter((part) => part.trim() !== '')
    .map((part) => {
      const [, name = '', url = ''] = /^\s*([^=]*?)\s*=(.*)$/.exec(part) ?? [];
      if (!/^[a-z0-9-]+$/.test(name)) throw new Error('is not a list of this form');
      if (reserved.includes(name)) throw new Error(`uses the reserved endpoint name ${name}`);
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
