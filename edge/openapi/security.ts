/** The credentials that a request can carry. */
export const SECURITY_SCHEMES = {
  token: {
    type: 'http',
    scheme: 'bearer',
    description:
      'A personal access token (`ahs_…`), or an access token of the identity provider. Its scopes limit what it can do: read, ' +
      'write (which includes read), admin, mcp (the protocol endpoints) and approve (decisions on approvals there). ' +
      '`x-required-scope` of an operation names the scope that it requires.',
  },
  login: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-ahs_login',
    description:
      'The cookie that `/auth/login` sets; without TLS its name is `ahs_login`. A request that changes something with this ' +
      'cookie needs the Origin header of the service, or `Sec-Fetch-Site: same-origin`.',
  },
};

/** The OpenAPI security requirements of a route that is not open: one of the credentials. */
export const SECURITY = [{ token: [] }, { login: [] }];

/** The requirements of protocol endpoints, which ignore cookies. */
export const TOKEN_ONLY = [{ token: [] }];
