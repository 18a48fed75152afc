import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { type Refusal, refuse } from '../../lib/errors.ts';
import type { EdgeConfig } from '../config.ts';
import type { Credential } from './credential.ts';

export interface BrowserRules {
  /** Allowed host names, lower case and without port. Undefined in mode `oidc`, where any host is allowed. */
  hosts: ReadonlySet<string> | undefined;
  /** Those of routes with a protocol, in both modes. */
  protocolHosts: ReadonlySet<string>;
  /** The origin, `scheme://host:port`, under which a reverse proxy publishes the service. */
  publicOrigin: string | undefined;
  /** Other origins whose pages may use the API. */
  allowedOrigins: ReadonlySet<string>;
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Derives the rules from the configuration. Ports of the Host header are not compared: a DNS-rebinding page keeps its host
 * name on every port.
 */
export function browserRules(
  listening: URL,
  config: Pick<EdgeConfig, 'publicUrl' | 'allowedHosts' | 'allowedOrigins' | 'authMode'>,
): BrowserRules {
  const { publicUrl, allowedHosts, authMode } = config;
  const allowedOrigins = new Set(config.allowedOrigins);
  const published = publicUrl === undefined ? undefined : new URL(publicUrl);
  const names = [
    ...LOOPBACK,
    ...allowedHosts,
    listening.hostname,
    ...(published ? [published.hostname] : []),
  ];
  const protocolHosts = new Set(names.map((name) => name.toLowerCase()));
  const hosts = authMode === 'local' ? protocolHosts : undefined;
  return { hosts, protocolHosts, publicOrigin: published?.origin, allowedOrigins };
}

/** The parts of a request that identify the page that sent it. */
interface BrowserRequest {
  method: string;
  headers: IncomingHttpHeaders;
  /** Other sites may link to this route. */
  isPage: boolean;
  /** The route has a protocol. */
  isProtocol: boolean;
  credential: Credential;
}

/**
 * Returns a refusal for a request that a page of another origin could have made the browser send.
 *
 * Local mode has no login, so every request that reaches the service acts as the administrator. Requests from other origins
 * are refused, including other ports and other names of this machine. Other sites may only link to pages.
 *
 * Routes with a protocol accept no other Host in either mode, because their URLs are the audience of access tokens.
 *
 * In mode `oidc` browsers attach the login cookie to requests from other sites. A request that changes something with the
 * cookie has to prove with Origin or Sec-Fetch-Site that it comes from this origin. Requests with a bearer token need no
 * such proof, because another site does not have the token, but an Origin that they name must be allowed.
 *
 * Pages of the allowed origins need no proof. They have no login: `allowPage` removes their cookies.
 */
export function checkBrowserRequest(rules: BrowserRules, request: BrowserRequest): Refusal | undefined {
  const { headers, credential } = request;
  const authority = (headers.host ?? '').toLowerCase();
  const hosts = request.isProtocol ? rules.protocolHosts : rules.hosts;
  if (hosts !== undefined && !hosts.has(authority.replace(/:\d*$/, ''))) {
    return refuse(
      'HOST_NOT_ALLOWED',
      'The service does not answer for this Host. Add the name to SERVICE_ALLOWED_HOSTS.',
    );
  }
  if (allowedOriginOf(rules, headers) !== undefined) return undefined;
  const { origin } = headers;
  const site = headers['sec-fetch-site'];
  if (origin !== undefined && !isOwnOrigin(rules, origin, authority)) return crossOriginRefusal(headers);
  if (rules.hosts === undefined && credential.bearer !== undefined) return undefined;
  if (site !== undefined && site !== 'same-origin' && site !== 'none' && !isLinkNavigation(request))
    return crossOriginRefusal(headers);
  const isProvenSameOrigin = origin !== undefined || site === 'same-origin';
  if (
    rules.hosts === undefined &&
    credential.login !== '' &&
    !isSafeMethod(request.method) &&
    !isProvenSameOrigin
  )
    return refuse(
      'CSRF_REJECTED',
      'A request that changes something with a login cookie needs an Origin header of this service.',
    );
  return undefined;
}

/** The origin of the page that sent a request, if it is one of the allowed other origins. */
export function allowedOriginOf(rules: BrowserRules, headers: IncomingHttpHeaders): string | undefined {
  const { allowedOrigins } = rules;
  if (allowedOrigins.size === 0) return undefined;
  const page = headers.origin ?? embeddingPageOf(headers);
  if (page === undefined || !allowedOrigins.has(page)) return undefined;
  return isOwnOrigin(rules, page, (headers.host ?? '').toLowerCase()) ? undefined : page;
}

/** The origin of the page of another site that embeds the response, for example as <img>. Such requests have no Origin. */
function embeddingPageOf({ referer, ...headers }: IncomingHttpHeaders): string | undefined {
  const site = headers['sec-fetch-site'];
  const isEmbedded =
    headers['sec-fetch-mode'] === 'no-cors' && (site === 'cross-site' || site === 'same-site');
  return isEmbedded && referer !== undefined && URL.canParse(referer) ? new URL(referer).origin : undefined;
}

function isOwnOrigin({ hosts, publicOrigin }: BrowserRules, origin: string, authority: string): boolean {
  if (origin === publicOrigin) return true;
  // Without a list of allowed hosts, the Host header may hold any name.
  return (hosts !== undefined || publicOrigin === undefined) && origin === `http://${authority}`;
}

function isLinkNavigation({ isPage, method, headers }: BrowserRequest): boolean {
  return (
    isPage &&
    method === 'GET' &&
    headers['sec-fetch-mode'] === 'navigate' &&
    headers['sec-fetch-dest'] === 'document'
  );
}

const isSafeMethod = (method: string) => method === 'GET' || method === 'HEAD';

function crossOriginRefusal({ origin, host }: IncomingHttpHeaders): Refusal {
  const page = origin === undefined ? 'no Origin' : `the Origin ${JSON.stringify(origin)}`;
  return refuse(
    'CSRF_REJECTED',
    `Requests from pages of other origins are refused. The request has ${page} and the Host ${JSON.stringify(host ?? '')}. ` +
      'Serve the page from the origin of the service, or add its origin to SERVICE_ALLOWED_ORIGINS.',
  );
}

const ABSOLUTE = /^https?:\/\/([^/?#]*)([^#]*)/i;

/**
 * Converts the target of a request to origin form. The host of an absolute target replaces the Host header
 * (https://www.rfc-editor.org/rfc/rfc9112#section-3.2.2), so that a request names exactly one host.
 */
export function originForm({ url = '/', headers }: IncomingMessage): string {
  const absolute = url.startsWith('/') ? null : ABSOLUTE.exec(url);
  if (!absolute) return url;
  const [, authority, target = ''] = absolute;
  headers.host = authority;
  return target.startsWith('/') ? target : `/${target}`;
}
