import { type SettingProblem, type Settings, setting } from '../../lib/env.ts';

export const settings = {
  pool: setting.integer(
    'SERVICE_AUTH_POOL',
    { min: 1, max: 100, unit: 'connections' },
    {
      fallback: 2,
      about:
        'Database connections of the auth service. In team mode, the service opens as many again for requests of users.',
    },
  ),
  issuer: setting.optionalUrl(
    'SERVICE_OIDC_ISSUER',
    ['https:', 'http:'],
    'Issuer URL of the identity provider (OpenID Connect). Its users can log in. http: is accepted only for loopback addresses.',
  ),
  clientId: setting.optionalText(
    'SERVICE_OIDC_CLIENT_ID',
    'Client id of this service at the identity provider. The redirect URI is /api/v1/auth/callback at SERVICE_PUBLIC_URL.',
  ),
  clientSecret: setting.optionalKey(
    'SERVICE_OIDC_CLIENT_SECRET',
    'Client secret of this service at the identity provider. Without a secret, the service is a public client.',
  ),
  scopes: setting.text('SERVICE_OIDC_SCOPES', {
    fallback: 'openid profile email',
    about: 'Scopes that a login requests from the identity provider, separated by spaces.',
  }),
  audience: setting.optionalText(
    'SERVICE_OIDC_AUDIENCE',
    'Access tokens of the identity provider with this audience are accepted as bearer tokens. Without an audience, no access tokens are accepted.',
  ),
  scopePrefix: setting.text('SERVICE_OIDC_SCOPE_PREFIX', {
    fallback: 'agents:',
    about:
      'Prefix of `read`, `write`, `admin`, `mcp` and `approve` in the scopes of access tokens. A token with none of these ' +
      'scopes has no rights.',
  }),
  groupsClaim: setting.text('SERVICE_OIDC_GROUPS_CLAIM', {
    fallback: 'groups',
    about: 'Name of the claim with the groups of a user.',
  }),
  administratorGroups: setting.list('SERVICE_OIDC_ADMINISTRATOR_GROUPS', 'groups, separated by commas', {
    fallback: [],
    about: 'Users in one of these groups of the identity provider are administrators.',
  }),
  administrators: setting.list('SERVICE_OIDC_ADMINISTRATORS', 'e-mail addresses, separated by commas', {
    fallback: [],
    about:
      'Users with one of these e-mail addresses are administrators. The identity provider must have verified the address.',
  }),
  introspection: setting.flag('SERVICE_OIDC_INTROSPECTION', {
    fallback: false,
    about:
      'Verifies access tokens that are not JWTs by introspection at the identity provider. Requires SERVICE_OIDC_AUDIENCE.',
  }),
  loginIdleMinutes: setting.integer(
    'SERVICE_LOGIN_IDLE_MINUTES',
    { min: 5, max: 525_600, unit: 'minutes' },
    { fallback: 720, about: 'A login ends when it has not been used for this time, in minutes.' },
  ),
  loginMaxHours: setting.integer(
    'SERVICE_LOGIN_MAX_HOURS',
    { min: 1, max: 8_760, unit: 'hours' },
    { fallback: 168, about: 'Maximum lifetime of a login, in hours.' },
  ),
  requestsPerMinute: setting.integer(
    'SERVICE_RATE_LIMIT_REQUESTS_PER_MINUTE',
    { min: 0, max: 1_000_000, unit: 'requests' },
    {
      fallback: 0,
      about:
        'Requests per minute and user, also the size of a burst. 0: no limit. Webhook requests are not counted.',
    },
  ),
  loginsPerMinute: setting.integer(
    'SERVICE_RATE_LIMIT_LOGINS_PER_MINUTE',
    { min: 0, max: 1_000_000, unit: 'logins' },
    {
      fallback: 0,
      about:
        'Logins and rejected credentials per minute and source address (IPv6: per /64 network), also the size of a burst. ' +
        '0: no limit. Behind a proxy, set SERVICE_TRUSTED_PROXIES; otherwise all clients share one limit.',
    },
  ),
  queriesPerMinute: setting.integer(
    'SERVICE_RATE_LIMIT_PROVIDER_QUERIES_PER_MINUTE',
    { min: 0, max: 10_000, unit: 'queries' },
    {
      fallback: 60,
      about:
        'Queries to the identity provider that unknown bearer tokens may cause in any 60 seconds, per source address (IPv6: ' +
        'per /64 network). Above that, an unknown token is rejected with UNAUTHENTICATED without a query. Tokens that were ' +
        'verified before are not affected. 0: no limit. Behind a proxy, set SERVICE_TRUSTED_PROXIES; otherwise all clients ' +
        'share one limit.',
    },
  ),
};

export type AuthConfig = Settings<typeof settings>;

/** Checks the settings for logins with an identity provider. Returns an empty list when they are complete. */
export function checkTeamSettings(config: AuthConfig): SettingProblem[] {
  const { issuer, clientId, administrators, administratorGroups, scopes, audience, introspection } = config;
  const problems: SettingProblem[] = [];
  const add = (variable: string, problem: string, expected: string, fix: string) =>
    void problems.push({ variable, problem, expected, fix });
  if (issuer === undefined) {
    add(
      'SERVICE_OIDC_ISSUER',
      'is not set, and SERVICE_AUTH_MODE is oidc',
      'the issuer of the identity provider, for example https://login.example.com',
      'copy the issuer from the document of the provider at /.well-known/openid-configuration',
    );
  } else if (!isTransportSecure(issuer)) {
    add(
      'SERVICE_OIDC_ISSUER',
      `("${issuer}") does not encrypt the connection`,
      'a URL beginning with https://, or with http:// on a loopback address',
      'use the https: address of the identity provider',
    );
  }
  if (clientId === undefined) {
    add(
      'SERVICE_OIDC_CLIENT_ID',
      'is not set, and SERVICE_AUTH_MODE is oidc',
      'the client id that the identity provider has given to this service',
      'register the service there as a web application (authorization code, PKCE)',
    );
  }
  if (administrators.length === 0 && administratorGroups.length === 0) {
    add(
      'SERVICE_OIDC_ADMINISTRATOR_GROUPS',
      'is not set, and SERVICE_OIDC_ADMINISTRATORS is not set either: there would be no administrator',
      'at least one of the two',
      'name a group of the identity provider, or your own e-mail address',
    );
  }
  if (!scopes.split(' ').includes('openid')) {
    add(
      'SERVICE_OIDC_SCOPES',
      `("${scopes}") does not request a login`,
      'openid among the scopes',
      'add openid',
    );
  }
  if (introspection && audience === undefined) {
    add(
      'SERVICE_OIDC_AUDIENCE',
      'is not set, and SERVICE_OIDC_INTROSPECTION is true',
      'the audience for which the identity provider makes access tokens',
      'set it, or unset SERVICE_OIDC_INTROSPECTION',
    );
  }
  return problems;
}

/** Rejects an identity provider in local mode: its operator expects logins, and there are none. */
export function checkLocalSettings({ issuer }: AuthConfig): SettingProblem[] {
  if (issuer === undefined) return [];
  return [
    {
      variable: 'SERVICE_OIDC_ISSUER',
      problem: 'is set, and SERVICE_AUTH_MODE is local: users would not have to log in',
      expected: 'an identity provider only in mode oidc',
      fix: 'set SERVICE_AUTH_MODE to oidc, or unset SERVICE_OIDC_ISSUER',
    },
  ];
}

/** Whether the connection is encrypted or stays on this machine. */
export function isTransportSecure(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || /^(localhost|\[::1\]|127(\.\d{1,3}){3})$/.test(hostname);
}
