import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import statics from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { refuse } from '../../../lib/errors.ts';
import { READ_METHODS } from '../../access.ts';
import { matchesWeakly } from '../../input/entity-tags.ts';
import { isPageNavigation } from '../../plugins/navigation.ts';
import type { FallbackHandler } from '../../plugins/not-found.ts';
import { UNBUILT } from './unbuilt.ts';

const OPEN = { method: READ_METHODS, config: { access: 'open' } } as const;
const HTML = 'text/html; charset=utf-8';
/** The page loads only its own files and has no inline scripts or styles. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/** The names of assets contain a hash of their content. */
const IMMUTABLE = 'public, max-age=31536000, immutable';
/** Cached, and revalidated on each use. */
const REVALIDATE = 'no-cache';
/** The names of files that a build writes. Compressed variants are served under the original name. */
const FILE = /^(?!.*\.(br|gz)$)[\w$@~+-]+(\.[\w$@~+-]+)+$/;

/** Serves a build from its folder. The folder can be replaced while it is served, or be created later. */
export async function serveBuilt(app: FastifyInstance, folder: string): Promise<FallbackHandler> {
  const assets = join(folder, 'assets');
  await app.register(statics, {
    serve: false,
    preCompressed: true,
    cacheControl: false,
    dotfiles: 'ignore',
    // Set only when a file is sent, because errors must not be cached.
    setHeaders: (reply, path) =>
      reply.header('cache-control', path.startsWith(assets) ? IMMUTABLE : REVALIDATE),
  });

  app.route({ ...OPEN, url: '/', handler: (request, reply) => sendPage(folder, request, reply) });
  app.route<{ Params: { file: string } }>({
    ...OPEN,
    url: '/assets/:file',
    async handler({ params: { file } }, reply) {
      if (!FILE.test(file)) throw refuse('ROUTE_NOT_FOUND', 'There is no such file.');
      return reply.sendFile(file, assets);
    },
  });

  return {
    async respond(request, reply) {
      const file = await fileFor(folder, request);
      if (file !== undefined) reply.sendFile(file, folder);
      else if (isPageNavigation(request)) await sendPage(folder, request, reply);
      else return false;
      return true;
    },
  };
}

/** The requested file beside the page, for example the icon. Undefined when there is none. */
async function fileFor(folder: string, { method, url }: FastifyRequest): Promise<string | undefined> {
  const [path = ''] = url.split('?', 1);
  const name = path.slice(1);
  if (!(method === 'GET' || method === 'HEAD') || !FILE.test(name) || name === 'index.html') return undefined;
  const stats = await stat(join(folder, name)).catch(() => undefined);
  return stats?.isFile() ? name : undefined;
}

/** Sends the page of the console, which is the same for every path. Its ETag is a digest of its content. */
async function sendPage(folder: string, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  reply.header('content-security-policy', PAGE_POLICY);
  const page = await readFile(join(folder, 'index.html')).catch(() => undefined);
  if (!page) return reply.code(503).type(HTML).send(UNBUILT);
  const etag = `"${createHash('sha256').update(page).digest('base64url').slice(0, 27)}"`;
  reply.headers({ 'cache-control': REVALIDATE, etag });
  const ifNoneMatch = request.headers['if-none-match'];
  if (ifNoneMatch !== undefined && matchesWeakly(ifNoneMatch, etag)) return reply.code(304).send();
  return reply.type(HTML).send(page);
}
