import { type SettingProblem, type Settings, setting } from '../../lib/env.ts';

export const settings = {
  pool: setting.integer(
    'SERVICE_AUTH_POOL',
    { min: 1, max: 100, unit: 'connections' },
    {
      fallback: 2,
      about:
        'Database connections of the auth service; in team mode as many more for what is done on behalf of users.',
    },
  ),
  issuer: setting.optionalUrl(
    'SERVICE_OIDC_ISSUER',
    ['https:', 'http:'],
    'The identity provider (OpenID Connect) whose users get in. Over http: on a loopback address only.',
  ),
  clientId: setting.optionalText(
    'SERVICE_OIDC_CLIENT_ID',
    'What the identity provider calls this service. Its redirect URI is /api/v1/auth/callback at SERVICE_PUBLIC_URL.',
  ),
  clientSecret: setting.optionalKey(
    'SERVICE_OIDC_CLIENT_SECRET',
    'With it the service proves to the identity provider who it is. Without one it is a public client.',
  ),
  scopes: setting.text('SERVICE_OIDC_SCOPES', {
    fallback: 'openid profile email',
    about: 'What a login asks the identity provider for, separated by spaces.',
  }),
  audience: setting.optionalText(
    'SERVICE_OIDC_AUDIENCE',
    'Access tokens of the identity provider that are made for this audience are accepted as bearer tokens; without it, none are.',
  ),
  scopePrefix: setting.text('SERVICE_OIDC_SCOPE_PREFIX', {
    fallback: 'agents:',
    about:
      'What stands before read, write, admin and mcp in the scopes of access tokens. A token with none of them may do nothing.',
  }),
  groupsClaim: setting.text('SERVICE_OIDC_GROUPS_CLAIM', {
    fallback: 'groups',
    about: 'The claim in which the identity provider names the groups of a user.',
  }),
  administratorGroups: setting.list('SERVICE_OIDC_ADMINISTRATOR_GROUPS', 'groups, separated by commas', {
    fallback: [],
    about: 'Whoever belongs to one of these groups at the identity provider is an administrator.',
  }),
  administrators: setting.list('SERVICE_OIDC_ADMINISTRATORS', 'e-mail addresses, separated by commas', {
    fallback: [],
    about:
      'Whoever has one of these e-mail addresses, verified by the identity provider, is an administrator.',
  }),
  introspection: setting.flag('SERVICE_OIDC_INTROSPECTION', {
    fallback: false,
    about: 'Asks the identity provider about access tokens that are not JWTs. Needs SERVICE_OIDC_AUDIENCE.',
  }),
  loginIdleMinutes: setting.integer(
    'SERVICE_LOGIN_IDLE_MINUTES',
    { min: 5, max: 525_600, unit: 'minutes' },
    { fallback: 720, about: 'A login that nobody has used for so long has ended.' },
  ),
  loginMaxHours: setting.integer(
    'SERVICE_LOGIN_MAX_HOURS',
    { min: 1, max: 8_760, unit: 'hours' },
    { fallback: 168, about: 'A login ends after this time, used or not.' },
  ),
  requestsPerMinute: setting.integer(
    'SERVICE_RATE_LIMIT_REQUESTS_PER_MINUTE',
    { min: 0, max: 1_000_000, unit: 'requests' },
    {
      fallback: 0,
      about:
        'How many requests one user may send: so many at once, and as many again in each minute. 0 is no limit. ' +
        'Webhooks are not counted.',
    },
  ),
  loginsPerMinute: setting.integer(
    'SERVICE_RATE_LIMIT_LOGINS_PER_MINUTE',
    { min: 0, max: 1_000_000, unit: 'logins' },
    {
      fallback: 0,
      about:
        'How many logins may begin, and credentials may let nobody in, from one source address (of IPv6: one network of 64 bits), ' +
        'counted like requests. 0 is no limit. Behind a proxy it needs SERVICE_TRUSTED_PROXIES, or all are counted as one.',
    },
  ),
};

export type AuthConfig = Settings<typeof settings>;

/** What the settings have to be so that users of an identity provider get in. Empty when they are. */
export function checkTeam(config: AuthConfig): SettingProblem[] {
  const { issuer, clientId, administrators, administratorGroups, scopes, audience, introspection } = config;
  const problems: SettingProblem[] = [];
  const add = (variable: string, problem: string, expected: string, fix: string) =>
    void problems.push({ variable, problem, expected, fix });
  if (issuer === undefined) {
    add(
      'SERVICE_OIDC_ISSUER',
      'is not set, and SERVICE_AUTH_MODE is oidc',
      'the issuer of the identity provider, for example https://login.example.com',
      'copy the issuer from the page of the provider that ends in /.well-known/openid-configuration',
    );
  } else if (!isSecure(issuer)) {
    add(
      'SERVICE_OIDC_ISSUER',
      `("${issuer}") can be listened to on its way`,
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
      'is not set, and neither is SERVICE_OIDC_ADMINISTRATORS: nobody would be an administrator',
      'at least one of the two',
      'name a group of the identity provider, or your own e-mail address',
    );
  }
  if (!scopes.split(' ').includes('openid')) {
    add(
      'SERVICE_OIDC_SCOPES',
      `("${scopes}") does not ask for a login`,
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

/** An identity provider that nobody is sent to means that somebody believes there were logins. */
export function checkLocal({ issuer }: AuthConfig): SettingProblem[] {
  if (issuer === undefined) return [];
  return [
    {
      variable: 'SERVICE_OIDC_ISSUER',
      problem: 'is set, and SERVICE_AUTH_MODE is local: nobody would have to log in',
      expected: 'an identity provider only where it is asked',
      fix: 'set SERVICE_AUTH_MODE to oidc, or unset SERVICE_OIDC_ISSUER',
    },
  ];
}

/** Whether nobody on the way can read or change what is said there. */
export function isSecure(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || /^(localhost|\[::1\]|127(\.\d{1,3}){3})$/.test(hostname);
}
