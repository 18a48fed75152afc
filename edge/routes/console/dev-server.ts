import type { FastifyInstance } from 'fastify';
import { refuse } from '../../../lib/errors.ts';
import { pathOf } from '../../plugins/navigation.ts';
import type { LastResort } from '../../plugins/unknown.ts';

/** As the built page's, but for what the dev server puts into pages and the socket over which it sends changes. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; " +
  "font-src 'self'; connect-src 'self' ws://127.0.0.1:* ws://localhost:*; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/** What somebody shows to us is not for anybody else. */
const OURS = new Set(['cookie', 'authorization', 'content-type']);
const NOT_THERE = 'the dev server of the console does not answer: npm run dev starts both';

/** Hands whatever is no route of ours to a dev server, its socket included. */
export async function serveFromSource(app: FastifyInstance, devServer: string): Promise<LastResort> {
  // It is large, and nobody needs it where the console is built.
  const { default: proxy } = await import('@fastify/http-proxy');
  await app.register(proxy, {
    upstream: devServer,
    websocket: true,
    wsClientOptions: { rewriteRequestHeaders: () => ({}) },
    httpMethods: ['GET', 'HEAD'],
    proxyPayloads: false,
    config: { access: 'open' },
    preHandler: (request, _reply, done) => done(isOfTheApi(request.url) ? nowhere() : undefined),
    replyOptions: {
      rewriteRequestHeaders: (_, headers) =>
        Object.fromEntries(Object.entries(headers).filter(([name]) => !OURS.has(name))),
      rewriteHeaders: (headers) => ({ ...headers, 'content-security-policy': PAGE_POLICY }),
      onError: (reply) => void reply.send(refuse('DEPENDENCY_UNAVAILABLE', NOT_THERE)),
    },
  });
  // The proxy has a route for everything that is read.
  return { answer: async () => false };
}

/** Sources of the console are below /api as well, but not below a version of it. */
const API = /^\/(api(\/?$|\/v\d+(\/|$))|docs\/)/;

function isOfTheApi(url: string): boolean {
  const path = pathOf(url);
  return path === undefined || API.test(path);
}

const nowhere = () => refuse('ROUTE_NOT_FOUND', 'there is no such path');
