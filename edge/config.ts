import { readRange } from '../lib/addresses.ts';
import { type SettingProblem, type Settings, setting } from '../lib/env.ts';
import { webhookMaxBodyBytes } from '../lib/limits.ts';

export const settings = {
  host: setting.text('SERVICE_HOST', {
    fallback: '127.0.0.1',
    about: 'The address to listen on. In local mode everybody who reaches it is the administrator.',
  }),
  port: setting.port('SERVICE_PORT', { fallback: 8080, about: 'The port to listen on.' }),
  publicUrl: setting.optionalUrl(
    'SERVICE_PUBLIC_URL',
    ['http:', 'https:'],
    'The origin under which clients reach the service; trigger URLs begin with it. Default: the listening origin.',
  ),
  allowedHosts: setting.list('SERVICE_ALLOWED_HOSTS', 'host names without port, separated by commas', {
    fallback: [],
    about:
      'In local mode: further names the service answers to, besides localhost, 127.0.0.1, [::1] and the host of SERVICE_PUBLIC_URL. ' +
      'Requests for any other name are refused, which is what stops a web page that rebinds its own name to this address.',
  }),
  publishedOnLoopback: setting.flag('SERVICE_LOCAL_MODE_PUBLISHED_ON_LOOPBACK', {
    fallback: false,
    about:
      'Allows SERVICE_HOST to be other than loopback. For a container whose port is published on loopback alone.',
  }),
  trustedProxies: setting.list('SERVICE_TRUSTED_PROXIES', 'addresses and networks, separated by commas', {
    fallback: [],
    about:
      'Reverse proxies whose X-Forwarded-For is believed, for example 10.0.0.7,fd00:5::/64: the last address there that is ' +
      'none of them is where a request comes from. Without it, that is whoever has connected.',
  }),
  maxWebhookBytes: webhookMaxBodyBytes,
  requestTimeoutSeconds: setting.integer(
    'SERVICE_REQUEST_TIMEOUT_SECONDS',
    { min: 1, max: 3600, unit: 'seconds' },
    { fallback: 60, about: 'How long a client may take to send one request, headers and body together.' },
  ),
  streamStallSeconds: setting.integer(
    'SERVICE_STREAM_STALL_SECONDS',
    { min: 1, max: 3600, unit: 'seconds' },
    { fallback: 30, about: 'How long a follower of events may read nothing before its stream is closed.' },
  ),
  consoleDevServer: setting.optionalUrl(
    'SERVICE_CONSOLE_DEV_SERVER',
    ['http:'],
    'For work on the console: the origin of a Vite dev server on this machine that serves it instead of the one that was built. ' +
      'npm run dev starts one and sets this.',
  ),
};

/** local: whoever reaches the service is its administrator. oidc: who has logged in, or has a token. */
export type AuthMode = 'local' | 'oidc';

export interface EdgeConfig extends Settings<typeof settings> {
  /** The same in every process, so it is not a setting of the edge alone. */
  authMode: AuthMode;
}

const LOOPBACK = /^(localhost|::1|127(\.\d{1,3}){3})$/;
const HOST_NAME = /^(\[[0-9a-f:.]+\]|[a-z0-9]([a-z0-9.-]*[a-z0-9])?)$/i;

/** What no single setting can know: whether the combination is safe. Empty when it is. */
export function checkConfig(config: EdgeConfig): SettingProblem[] {
  const problems: SettingProblem[] = [];
  if (!LOOPBACK.test(config.host)) problems.push(...exposed(config));
  for (const name of config.allowedHosts.filter((one) => !HOST_NAME.test(one))) {
    problems.push({
      variable: 'SERVICE_ALLOWED_HOSTS',
      problem: `("${name}") is not a host name`,
      expected: 'host names without port, separated by commas',
      fix: 'name hosts only, for example agents.example.com',
    });
  }
  for (const range of config.trustedProxies.filter((one) => !readRange(one))) {
    problems.push({
      variable: 'SERVICE_TRUSTED_PROXIES',
      problem: `("${range}") is neither an address nor a network that leaves anybody out`,
      expected: 'addresses and networks, separated by commas',
      fix: 'name the addresses of your proxies, for example 10.0.0.7 or 10.0.0.0/24',
    });
  }
  if (config.publicUrl !== undefined && !isOrigin(config.publicUrl)) {
    problems.push({
      variable: 'SERVICE_PUBLIC_URL',
      problem: `("${config.publicUrl}") is more than an origin`,
      expected: 'scheme, host and perhaps a port, for example https://agents.example.com',
      fix: 'leave out user, path, query and fragment; the service answers at the root of its host',
    });
  }
  if (config.consoleDevServer !== undefined && !isOnThisMachine(config.consoleDevServer)) {
    problems.push({
      variable: 'SERVICE_CONSOLE_DEV_SERVER',
      problem: `("${config.consoleDevServer}") is not the origin of a server on this machine`,
      expected: 'http, a loopback address and a port, for example http://127.0.0.1:5173',
      fix: 'name the dev server that runs here, or unset it; what is served from there can do whatever the console can',
    });
  }
  return problems;
}

/** What it takes to listen where other machines can come. */
function exposed({ host, authMode, publishedOnLoopback, publicUrl }: EdgeConfig): SettingProblem[] {
  if (authMode === 'oidc') {
    if (publicUrl !== undefined) return [];
    return [
      {
        variable: 'SERVICE_PUBLIC_URL',
        problem: `is not set, and SERVICE_HOST ("${host}") can be reached from other machines`,
        expected: 'the origin under which browsers reach the service; after a login they come back there',
        fix: 'set it, for example to https://agents.example.com',
      },
    ];
  }
  if (publishedOnLoopback) return [];
  return [
    {
      variable: 'SERVICE_HOST',
      problem: `("${host}") can be reached from other machines, and in local mode nobody has to log in`,
      expected: 'a loopback address',
      fix:
        'set SERVICE_HOST to 127.0.0.1, or SERVICE_AUTH_MODE to oidc; in a container whose port is published on ' +
        'loopback alone, set SERVICE_LOCAL_MODE_PUBLISHED_ON_LOOPBACK to true',
    },
  ];
}

function isOrigin(url: string): boolean {
  const { origin, href, username } = new URL(url);
  return username === '' && href === `${origin}/`;
}

function isOnThisMachine(url: string): boolean {
  return isOrigin(url) && LOOPBACK.test(new URL(url).hostname.replace(/^\[|\]$/g, ''));
}
