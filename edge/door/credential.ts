import type { IncomingHttpHeaders } from 'node:http';
import type { Cookies } from './cookies.ts';

/** What a request shows of who sends it. */
export interface Credential {
  /** What follows Bearer; undefined when nothing does. Malformed is empty. */
  bearer: string | undefined;
  /** The value of the cookie; empty for none. With a bearer it is not looked at. */
  login: string;
}

/** https://www.rfc-editor.org/rfc/rfc6750#section-2.1 */
const BEARER = /^bearer(?: +([\w.~+/-]+=*))? *$/i;
const CLAIM = /^bearer(?: |$)/i;

/** Any other scheme of Authorization is for somebody in between. */
export function credentialOf(headers: IncomingHttpHeaders, cookies: Cookies): Credential {
  const { authorization, cookie } = headers;
  if (authorization !== undefined && CLAIM.test(authorization))
    return { bearer: BEARER.exec(authorization)?.[1] ?? '', login: '' };
  return { bearer: undefined, login: cookie === undefined ? '' : cookies.login(cookie) };
}
