import type { FastifyInstance } from 'fastify';
import { refuse } from '../../../lib/errors.ts';
import { decodedPath } from '../../plugins/navigation.ts';
import type { FallbackHandler } from '../../plugins/not-found.ts';

/** The policy of the built page, plus the inline code of the dev server and the WebSocket over which it sends changes. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; " +
  "font-src 'self'; connect-src 'self' ws://127.0.0.1:* ws://localhost:*; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/** Headers that are not forwarded to the dev server. */
const PRIVATE_HEADERS = new Set(['cookie', 'authorization', 'content-type']);
/** The types of the proxy lack `rewriteRequestHeaders`, which drops the headers of the browser. */
const WEBSOCKET_OPTIONS = { headers: {}, rewriteRequestHeaders: () => ({}) };
const UNREACHABLE = 'The dev server of the console does not answer. Run `npm run dev` to start both.';

/** Forwards requests without a route to the dev server, including its WebSocket. */
export async function serveFromSource(app: FastifyInstance, devServer: string): Promise<FallbackHandler> {
  // The package is large and needed only for development.
  const { default: proxy } = await import('@fastify/http-proxy');
  await app.register(proxy, {
    upstream: devServer,
    websocket: true,
    wsClientOptions: WEBSOCKET_OPTIONS,
    httpMethods: ['GET', 'HEAD'],
    proxyPayloads: false,
    config: { access: 'open' },
    preHandler: (request, _reply, done) => done(isApiPath(request.url) ? notFound() : undefined),
    replyOptions: {
      rewriteRequestHeaders: (_, headers) =>
        Object.fromEntries(Object.entries(headers).filter(([name]) => !PRIVATE_HEADERS.has(name))),
      rewriteHeaders: (headers) => ({ ...headers, 'content-security-policy': PAGE_POLICY }),
      onError: (reply) => void reply.send(refuse('DEPENDENCY_UNAVAILABLE', UNREACHABLE)),
    },
  });
  // The proxy has a route for every GET and HEAD request.
  return { respond: async () => false };
}

/** The sources of the console include /api, but no versioned path below it. */
const API = /^\/(api(\/?$|\/v\d+(\/|$))|docs\/)/;

function isApiPath(url: string): boolean {
  const path = decodedPath(url);
  return path === undefined || API.test(path);
}

const notFound = () => refuse('ROUTE_NOT_FOUND', 'There is no such path.');
