import { OutboundError } from './outbound-error.ts';

export const REDIRECT_STATUSES = [301, 302, 303, 307, 308];

/** Returns the request after a redirect. Throws OutboundError for a body that cannot be sent again. */
export function redirectedRequest(init: RequestInit, status: number): RequestInit {
  const method = init.method?.toUpperCase() ?? 'GET';
  const isSentAgain = status === 307 || status === 308 || method === 'GET' || method === 'HEAD';
  if (!isSentAgain) {
    const headers = new Headers(init.headers);
    for (const name of ['content-type', 'content-length', 'content-encoding']) headers.delete(name);
    return { ...init, headers, method: 'GET', body: null };
  }
  if (init.body instanceof ReadableStream)
    throw new OutboundError('redirect_refused', 'The server redirects a request whose body is a stream.');
  return init;
}
