import { SIGNATURE_ALGORITHMS } from './provider.ts';

/** `jwt`: a signed JWT. `opaque`: only the provider can tell whether it is valid. `malformed`: no valid token has this form. */
export type TokenForm = 'jwt' | 'opaque' | 'malformed';

const MAX_CHARACTERS = 16_384;
/** https://www.rfc-editor.org/rfc/rfc6750#section-2.1 */
const BEARER_TOKEN = /^[\w\-.~+/]+=*$/;
const BASE64URL = /^[\w-]+$/;

/**
 * Returns the form of an access token, which is told without the provider. Unsigned and encrypted JWTs and other variants
 * of JWTs are malformed. Some providers issue opaque tokens with one dot.
 */
export function tokenFormOf(token: string): TokenForm {
  if (token.length > MAX_CHARACTERS || !BEARER_TOKEN.test(token)) return 'malformed';
  const parts = token.split('.');
  const [head = '', payload = ''] = parts;
  if (parts.length === 1) return 'opaque';
  if (parts.includes('')) return 'malformed';
  if (parts.length === 2) return decodeObject(head) ? 'malformed' : 'opaque';
  if (parts.length !== 3 || !parts.every((part) => BASE64URL.test(part))) return 'malformed';
  const isSigned = SIGNATURE_ALGORITHMS.includes(String(decodeObject(head)?.alg));
  return isSigned && decodeObject(payload) ? 'jwt' : 'malformed';
}

/** The JSON object in a part of a JWT; undefined for any other content. */
function decodeObject(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
