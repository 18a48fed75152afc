import type { Access } from '../access.ts';

/** What a request can show. */
export const SECURITY_SCHEMES = {
  token: {
    type: 'http',
    scheme: 'bearer',
    description:
      'A personal access token (`ahs_…`), or an access token of the identity provider. What it is good for is a matter of ' +
      'its scopes: read, write (which includes read), admin, mcp.',
  },
  login: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-ahs_login',
    description:
      'What a browser has after /auth/login; without TLS its name is `ahs_login`. A change that comes with it has to come ' +
      'from a page of the service: with an Origin, or Sec-Fetch-Site.',
  },
};

/** One of them is needed, where a route is not open to anybody. In local mode none is. */
export function securityOf(access: Access): object[] {
  return access === 'open' ? [] : [{ token: [access] }, { login: [] }];
}
