import type { IncomingHttpHeaders } from 'node:http';

/** The console has no pages below these paths. */
const NON_PAGE_PREFIXES = ['/api', '/docs', '/assets'];
/** A media type with quality 0, which the client does not accept. */
const NOT_ACCEPTED = /;\s*q=0(\.0*)?\s*(;|$)/;

/** The parts of a request that tell a page navigation from other requests. */
interface NavigationRequest {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
}

/**
 * Whether a request for an unknown path is a browser that navigates to a page. The console routes these paths itself and
 * shows its own page for unknown ones; programs, which do not accept HTML, get ROUTE_NOT_FOUND.
 */
export function isPageNavigation({ method, url, headers }: NavigationRequest): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  const path = decodedPath(url);
  if (
    path === undefined ||
    NON_PAGE_PREFIXES.some((prefix) => path === prefix || path.startsWith(`${prefix}/`))
  )
    return false;
  return acceptsHtml(headers);
}

/** Whether the client names HTML among the media types that it accepts, as browsers that navigate do. */
export function acceptsHtml({ accept = '' }: IncomingHttpHeaders): boolean {
  return accept.split(',').some((range) => {
    const [type = ''] = range.split(';', 1);
    return type.trim().toLowerCase() === 'text/html' && !NOT_ACCEPTED.test(range);
  });
}

/** The path of a URL, decoded and in lower case. Undefined when it is not valid percent-encoding. */
export function decodedPath(url: string): string | undefined {
  const [path = '/'] = url.split('?', 1);
  try {
    return decodeURIComponent(path).toLowerCase();
  } catch {
    return undefined;
  }
}
