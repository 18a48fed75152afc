import type { IncomingHttpHeaders } from 'node:http';
import { type Refusal, refuse } from '../../lib/errors.ts';

export interface BrowserRules {
  /** Host names without port, lower case, that requests may name. */
  hosts: ReadonlySet<string>;
  /** Origins, `scheme://host:port`, whose pages are our own. */
  origins: ReadonlySet<string>;
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Which hosts and origins are ours. Ports of a Host header are not compared: a page that rebinds its name
 * to this machine keeps its name, whatever port it uses.
 */
export function browserRules(
  listening: URL,
  publicUrl: string | undefined,
  allowedHosts: readonly string[],
): BrowserRules {
  const ours = [listening, ...(publicUrl ? [new URL(publicUrl)] : [])];
  const names = [...LOOPBACK, ...allowedHosts, ...ours.map((url) => url.hostname)].map((name) =>
    name.toLowerCase(),
  );
  const origins = ours.map((url) => url.origin);
  const listeningNames = [...LOOPBACK, ...allowedHosts].map(
    (name) => `http://${name.toLowerCase()}:${listening.port}`,
  );
  return { hosts: new Set(names), origins: new Set([...origins, ...listeningNames]) };
}

/**
 * Refuses what a web page of somebody else could make this browser send. In local mode nobody logs in, so
 * a page that could send a request would be the administrator. Another port of this machine is somebody
 * else, too. Links to pages for people (not below /api) may be followed from anywhere.
 */
export function browserFault(
  rules: BrowserRules,
  method: string,
  path: string,
  headers: IncomingHttpHeaders,
): Refusal | undefined {
  const host = (headers.host ?? '').toLowerCase().replace(/:\d*$/, '');
  if (!rules.hosts.has(host)) {
    return refuse('HOST_NOT_ALLOWED', 'this service does not answer for the host that was asked for');
  }
  const { origin } = headers;
  if (origin !== undefined && !rules.origins.has(origin.toLowerCase())) return foreign();
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return undefined;
  const followsLink =
    method === 'GET' &&
    headers['sec-fetch-mode'] === 'navigate' &&
    headers['sec-fetch-dest'] === 'document' &&
    !path.startsWith('/api/');
  return followsLink ? undefined : foreign();
}

function foreign(): Refusal {
  return refuse('CSRF_REJECTED', 'requests from pages of other origins are refused');
}
