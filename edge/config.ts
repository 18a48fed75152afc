import { readRange } from '../lib/addresses.ts';
import { type SettingProblem, type Settings, setting } from '../lib/env.ts';
import { webhookMaxBodyBytes } from '../lib/limits.ts';

export const settings = {
  host: setting.text('SERVICE_HOST', {
    fallback: '127.0.0.1',
    about:
      'The address to listen on. In local mode every request that reaches this address has administrator rights.',
  }),
  port: setting.port('SERVICE_PORT', { fallback: 8080, about: 'The TCP port to listen on.' }),
  publicUrl: setting.optionalUrl(
    'SERVICE_PUBLIC_URL',
    ['http:', 'https:'],
    'The origin under which clients reach the service. Trigger URLs and login redirects use it. Default: the listening origin.',
  ),
  publishedPort: setting.optionalInteger(
    'SERVICE_PUBLISHED_PORT',
    { min: 1, max: 65_535 },
    'The port at which a container is published on the loopback address of its host. Without SERVICE_PUBLIC_URL, the ' +
      'public URL is http://127.0.0.1 with this port.',
  ),
  allowedHosts: setting.list('SERVICE_ALLOWED_HOSTS', 'host names without port, separated by commas', {
    fallback: [],
    about:
      'Additional accepted names in the Host header, besides localhost, 127.0.0.1, [::1] and the host of ' +
      'SERVICE_PUBLIC_URL. Requests with other names are refused, which prevents DNS rebinding attacks by web pages. In ' +
      'team mode, only protocol endpoints such as /mcp check the name.',
  }),
  allowedOrigins: setting.list('SERVICE_ALLOWED_ORIGINS', 'origins, separated by commas', {
    fallback: [],
    about:
      'Other origins whose web pages may use the API, for example https://app.example.com,http://localhost:5173. Their ' +
      'requests carry bearer tokens; cookies are ignored. In local mode these pages have administrator rights.',
  }),
  publishedOnLoopback: setting.flag('SERVICE_LOCAL_MODE_PUBLISHED_ON_LOOPBACK', {
    fallback: false,
    about:
      'Allows a SERVICE_HOST other than loopback in local mode. Set it for a container whose port is published only on the ' +
      'loopback address of the host.',
  }),
  trustedProxies: setting.list('SERVICE_TRUSTED_PROXIES', 'addresses and networks, separated by commas', {
    fallback: [],
    about:
      'Addresses and networks of reverse proxies, for example 10.0.0.7,fd00:5::/64. The client address is the last one in ' +
      'X-Forwarded-For that is not a trusted proxy. Without trusted proxies it is the address of the TCP connection.',
  }),
  maxWebhookBytes: webhookMaxBodyBytes,
  requestTimeoutSeconds: setting.integer(
    'SERVICE_REQUEST_TIMEOUT_SECONDS',
    { min: 1, max: 3600, unit: 'seconds' },
    {
      fallback: 60,
      about:
        'The time limit for receiving a request, headers and body together. File uploads have no overall limit; they fail ' +
        'after this time without progress.',
    },
  ),
  streamStallSeconds: setting.integer(
    'SERVICE_STREAM_STALL_SECONDS',
    { min: 1, max: 3600, unit: 'seconds' },
    {
      fallback: 30,
      about:
        'A stream or download is closed when its client has read nothing for this long while data waits for it. ' +
        'Heartbeats do not count. Raise it for clients whose connection often pauses for longer.',
    },
  ),
  consoleDevServer: setting.optionalUrl(
    'SERVICE_CONSOLE_DEV_SERVER',
    ['http:'],
    'The origin of a Vite dev server on this machine that serves the console instead of its build. For development of the ' +
      'console; `npm run dev` starts the server and sets this.',
  ),
};

/** `local`: every request has administrator rights. `oidc`: requests need a login or a token. */
export type AuthMode = 'local' | 'oidc';

export interface EdgeConfig extends Settings<typeof settings> {
  /** A setting of all processes, so it is not declared here. */
  authMode: AuthMode;
}

const LOOPBACK = /^(localhost|::1|127(\.\d{1,3}){3})$/;
const HOST_NAME = /^(\[[0-9a-f:.]+\]|[a-z0-9]([a-z0-9.-]*[a-z0-9])?)$/i;

/** Checks the combination of settings. Returns one problem per unsafe or malformed value. */
export function checkConfig(config: EdgeConfig): SettingProblem[] {
  const problems: SettingProblem[] = [];
  if (!LOOPBACK.test(config.host)) problems.push(...checkExposure(config));
  for (const name of config.allowedHosts.filter((host) => !HOST_NAME.test(host))) {
    problems.push({
      variable: 'SERVICE_ALLOWED_HOSTS',
      problem: `("${name}") is not a host name`,
      expected: 'host names without port, separated by commas',
      fix: 'list only host names, for example agents.example.com',
    });
  }
  for (const origin of config.allowedOrigins.filter((entry) => !isExactOrigin(entry))) {
    problems.push({
      variable: 'SERVICE_ALLOWED_ORIGINS',
      problem: `("${origin}") is not an origin`,
      expected: 'origins as browsers send them, separated by commas',
      fix: 'list scheme, host and port in lower case without a path, for example https://app.example.com; there is no wildcard',
    });
  }
  for (const range of config.trustedProxies.filter((entry) => !readRange(entry))) {
    problems.push({
      variable: 'SERVICE_TRUSTED_PROXIES',
      problem: `("${range}") is neither an address nor a network with a prefix length above 0`,
      expected: 'addresses and networks, separated by commas',
      fix: 'list the addresses of your proxies, for example 10.0.0.7 or 10.0.0.0/24',
    });
  }
  if (config.publicUrl !== undefined && !isOrigin(config.publicUrl)) {
    problems.push({
      variable: 'SERVICE_PUBLIC_URL',
      problem: `("${config.publicUrl}") is not an origin`,
      expected: 'scheme, host and optionally a port, for example https://agents.example.com',
      fix: 'remove user, path, query and fragment; the service must be at the root of its host',
    });
  }
  if (config.consoleDevServer !== undefined && !isOnThisMachine(config.consoleDevServer)) {
    problems.push({
      variable: 'SERVICE_CONSOLE_DEV_SERVER',
      problem: `("${config.consoleDevServer}") is not the origin of a server on this machine`,
      expected: 'http, a loopback address and a port, for example http://127.0.0.1:5173',
      fix: 'set the origin of a dev server on this machine, or unset it; its pages get all rights of the console',
    });
  }
  return problems;
}

/** Checks the settings for a listening address that other machines can reach. */
function checkExposure({ host, authMode, publishedOnLoopback, publicUrl }: EdgeConfig): SettingProblem[] {
  if (authMode === 'oidc') {
    if (publicUrl !== undefined) return [];
    return [
      {
        variable: 'SERVICE_PUBLIC_URL',
        problem: `is not set, but SERVICE_HOST ("${host}") can be reached from other machines`,
        expected: 'the origin under which browsers reach the service and to which a login returns',
        fix: 'set it, for example to https://agents.example.com',
      },
    ];
  }
  if (publishedOnLoopback) return [];
  return [
    {
      variable: 'SERVICE_HOST',
      problem: `("${host}") can be reached from other machines, and local mode requires no login`,
      expected: 'a loopback address',
      fix:
        'set SERVICE_HOST to 127.0.0.1, or SERVICE_AUTH_MODE to oidc; in a container whose port is published only on ' +
        'loopback, set SERVICE_LOCAL_MODE_PUBLISHED_ON_LOOPBACK to true',
    },
  ];
}

/** Whether the text is an origin exactly as browsers write it in the header Origin. */
function isExactOrigin(text: string): boolean {
  return /^https?:[^*]*$/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

function isOrigin(url: string): boolean {
  const { origin, href, username } = new URL(url);
  return username === '' && href === `${origin}/`;
}

function isOnThisMachine(url: string): boolean {
  return isOrigin(url) && LOOPBACK.test(new URL(url).hostname.replace(/^\[|\]$/g, ''));
}
