import type { IncomingHttpHeaders } from 'node:http';
import type { Cookies } from './cookies.ts';

/** The credential that a request carries, before it is verified. */
export interface Credential {
  /** The token of a Bearer Authorization header; undefined without one, empty when it is malformed. */
  bearer: string | undefined;
  /** The value of the login cookie; empty without one. Ignored when there is a bearer token. */
  login: string;
  /** The URL of the protocol endpoint that the request addresses, for which an access token may be made. */
  resource: string | undefined;
}

/** https://www.rfc-editor.org/rfc/rfc6750#section-2.1 */
const BEARER = /^bearer(?: +([\w.~+/-]+=*))? *$/i;
const BEARER_SCHEME = /^bearer(?: |$)/i;

/** Reads the credential of a request to a route without a protocol. Other Authorization schemes are left to proxies and ignored. */
export function credentialOf(headers: IncomingHttpHeaders, cookies: Cookies): Credential {
  const { authorization, cookie } = headers;
  if (authorization !== undefined && BEARER_SCHEME.test(authorization))
    return { bearer: BEARER.exec(authorization)?.[1] ?? '', login: '', resource: undefined };
  const login = cookie === undefined ? '' : cookies.login(cookie);
  return { bearer: undefined, login, resource: undefined };
}
