import type { FastifyReply, FastifyRequest } from 'fastify';

/** Response headers that pages of other origins may read besides the safelisted ones. */
const EXPOSED_HEADERS = 'X-Request-Id, ETag, Retry-After, Idempotent-Replayed, WWW-Authenticate';
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
/** How long browsers may reuse the answer to a preflight. */
const PREFLIGHT_SECONDS = 600;

/**
 * Prepares the response to a page of an allowed origin (https://fetch.spec.whatwg.org/#http-cors-protocol). Browsers may
 * send cookies with such a request. They are removed before any route sees them.
 */
export function allowPage(request: FastifyRequest, reply: FastifyReply, origin: string): void {
  delete request.headers.cookie;
  reply.header('access-control-allow-origin', origin);
  reply.header('access-control-expose-headers', EXPOSED_HEADERS);
  // An <img> of the page is loaded without CORS and without Origin.
  if (request.headers.origin === undefined) reply.header('cross-origin-resource-policy', 'cross-origin');
}

/** Whether a browser asks if a page may send a request. Preflights carry no credentials. */
export function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

/** Answers a preflight of an allowed origin. */
export function answerPreflight(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const requested = request.headers['access-control-request-headers'];
  if (requested !== undefined) reply.header('access-control-allow-headers', requested);
  return reply
    .header('access-control-allow-methods', METHODS)
    .header('access-control-max-age', String(PREFLIGHT_SECONDS))
    .code(204)
    .send();
}
