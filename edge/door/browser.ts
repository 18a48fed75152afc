import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { type Refusal, refuse } from '../../lib/errors.ts';
import type { EdgeConfig } from '../config.ts';
import type { Credential } from './credential.ts';

export interface BrowserRules {
  /** Host names without port, lower case, that requests may name. Undefined where people log in: any. */
  hosts: ReadonlySet<string> | undefined;
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
  { publicUrl, allowedHosts, authMode }: Pick<EdgeConfig, 'publicUrl' | 'allowedHosts' | 'authMode'>,
): BrowserRules {
  const published = publicUrl === undefined ? undefined : new URL(publicUrl);
  if (authMode === 'oidc') return { hosts: undefined, publicOrigin: published?.origin };
  const names = [
    ...LOOPBACK,
    ...allowedHosts,
    listening.hostname,
    ...(published ? [published.hostname] : []),
  ];
  return { hosts: new Set(names.map((name) => name.toLowerCase())), publicOrigin: published?.origin };
}

/** A request, as far as it matters which page it comes from. */
export interface Asked {
  method: string;
  headers: IncomingHttpHeaders;
  /** Links to it may be followed from anywhere. */
  isPage: boolean;
  credential: Credential;
}

/**
 * Refuses what a web page of somebody else could make this browser send. In local mode nobody logs in, so
 * a page that could send a request would be the administrator. Another port of this machine is somebody
 * else, too, and so is another of its names. Only links to pages for people may be followed from anywhere.
 *
 * Where people log in, a page of somebody else has no login to send but the cookie, which browsers add by
 * themselves: what changes something with it has to come from a page of ours, and say so. No page can add a
 * bearer token that it does not have.
 */
export function browserFault(rules: BrowserRules, asked: Asked): Refusal | undefined {
  const { headers, credential } = asked;
  const authority = (headers.host ?? '').toLowerCase();
  if (rules.hosts === undefined) {
    if (credential.bearer !== undefined) return undefined;
  } else if (!rules.hosts.has(authority.replace(/:\d*$/, ''))) {
    return refuse('HOST_NOT_ALLOWED', 'this service does not answer for the host that was asked for');
  }
  const { origin } = headers;
  const site = headers['sec-fetch-site'];
  if (origin !== undefined && !isOurs(rules, origin, authority)) return foreign();
  if (site !== undefined && site !== 'same-origin' && site !== 'none' && !followsLink(asked))
    return foreign();
  const isProven = origin !== undefined || site === 'same-origin';
  if (rules.hosts === undefined && credential.login !== '' && !isReading(asked.method) && !isProven)
    return refuse(
      'CSRF_REJECTED',
      'a change that comes with a cookie has to say that it comes from here: no Origin',
    );
  return undefined;
}

function isOurs({ hosts, publicOrigin }: BrowserRules, origin: string, authority: string): boolean {
  if (origin === publicOrigin) return true;
  // Without a list of hosts any name may stand there.
  return (hosts !== undefined || publicOrigin === undefined) && origin === `http://${authority}`;
}

function followsLink({ isPage, method, headers }: Asked): boolean {
  return (
    isPage &&
    method === 'GET' &&
    headers['sec-fetch-mode'] === 'navigate' &&
    headers['sec-fetch-dest'] === 'document'
  );
}

const isReading = (method: string) => method === 'GET' || method === 'HEAD';

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
