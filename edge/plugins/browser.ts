import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { type Refusal, refuse } from '../../lib/errors.ts';

export interface BrowserRules {
  /** Host names without port, lower case, that requests may name. */
  hosts: ReadonlySet<string>;
  /** The origin, `scheme://host:port`, under which a proxy in front of us shows our pages. */
  publicOrigin: string | undefined;
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Which hosts are ours. Ports of a Host header are not compared: a page that rebinds its name to this
 * machine keeps its name, whatever port it uses.
 */
export function browserRules(
  listening: URL,
  publicUrl: string | undefined,
  allowedHosts: readonly string[],
): BrowserRules {
  const published = publicUrl === undefined ? undefined : new URL(publicUrl);
  const names = [
    ...LOOPBACK,
    ...allowedHosts,
    listening.hostname,
    ...(published ? [published.hostname] : []),
  ];
  return { hosts: new Set(names.map((name) => name.toLowerCase())), publicOrigin: published?.origin };
}

/**
 * Refuses what a web page of somebody else could make this browser send. In local mode nobody logs in, so
 * a page that could send a request would be the administrator. Another port of this machine is somebody
 * else, too, and so is another of its names. Only links to pages for people may be followed from anywhere.
 */
export function browserFault(
  rules: BrowserRules,
  method: string,
  isPage: boolean,
  headers: IncomingHttpHeaders,
): Refusal | undefined {
  const authority = (headers.host ?? '').toLowerCase();
  if (!rules.hosts.has(authority.replace(/:\d*$/, ''))) {
    return refuse('HOST_NOT_ALLOWED', 'this service does not answer for the host that was asked for');
  }
  const { origin } = headers;
  const ours = origin === undefined || origin === rules.publicOrigin || origin === `http://${authority}`;
  if (!ours) return foreign();
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return undefined;
  const followsLink =
    isPage &&
    method === 'GET' &&
    headers['sec-fetch-mode'] === 'navigate' &&
    headers['sec-fetch-dest'] === 'document';
  return followsLink ? undefined : foreign();
}

function foreign(): Refusal {
  return refuse('CSRF_REJECTED', 'requests from pages of other origins are refused');
}

const ABSOLUTE = /^https?:\/\/([^/?#]*)([^#]*)/i;

/**
 * The target of a request as a path. A target that names a host itself overrules the Host header
 * (https://www.rfc-editor.org/rfc/rfc9112#section-3.2.2), so that one request cannot name two.
 */
export function originForm({ url = '/', headers }: IncomingMessage): string {
  const absolute = url.startsWith('/') ? null : ABSOLUTE.exec(url);
  if (!absolute) return url;
  const [, authority, target = ''] = absolute;
  headers.host = authority;
  return target.startsWith('/') ? target : `/${target}`;
}
