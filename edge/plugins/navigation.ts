import type { IncomingHttpHeaders } from 'node:http';

/** Below these nothing is a page of the console, whatever is asked for. */
const NO_PAGES = ['/api', '/docs', '/assets'];
/** The weight that a browser gives to a media type; none is all of it. */
const UNWANTED = /;\s*q=0(\.0*)?\s*(;|$)/;

/** A request, as far as it says what somebody wants to see. */
export interface Wish {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
}

/**
 * Whether somebody looks for a page under an address that no route has. The console knows its addresses itself, those that
 * do not exist as well; programs, which do not ask for HTML, are told that there is nothing.
 */
export function looksForPage({ method, url, headers }: Wish): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  const path = pathOf(url);
  if (path === undefined || NO_PAGES.some((one) => path === one || path.startsWith(`${one}/`))) return false;
  return (headers.accept ?? '').split(',').some((range) => {
    const [type = ''] = range.split(';', 1);
    return type.trim().toLowerCase() === 'text/html' && !UNWANTED.test(range);
  });
}

/** As it is compared: decoded, without the query. Undefined for what cannot be decoded. */
export function pathOf(url: string): string | undefined {
  const [path = '/'] = url.split('?', 1);
  try {
    return decodeURIComponent(path).toLowerCase();
  } catch {
    return undefined;
  }
}
