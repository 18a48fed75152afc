import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import statics from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { refuse } from '../../../lib/errors.ts';
import { looksForPage } from '../../plugins/navigation.ts';
import type { LastResort } from '../../plugins/unknown.ts';
import { UNBUILT } from './unbuilt.ts';

const OPEN = { config: { access: 'open' } } as const;
const HTML = 'text/html; charset=utf-8';
/** The page loads what belongs to it and nothing else; nothing stands in the page itself. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/** Their names say what they hold. */
const FOREVER = 'public, max-age=31536000, immutable';
/** Kept, and asked for each time. */
const CHECKED = 'no-cache';
/** What a build writes. What it compressed has the name of what it was. */
const FILE = /^(?!.*\.(br|gz)$)[\w$@~+-]+(\.[\w$@~+-]+)+$/;

/** Serves a build from its folder, which may be replaced by another one while it is served, or not be there yet. */
export async function serveBuilt(app: FastifyInstance, folder: string): Promise<LastResort> {
  const assets = join(folder, 'assets');
  await app.register(statics, {
    serve: false,
    preCompressed: true,
    cacheControl: false,
    dotfiles: 'ignore',
    // Set when there is something to send, as a refusal must not be kept.
    setHeaders: (reply, path) => reply.header('cache-control', path.startsWith(assets) ? FOREVER : CHECKED),
  });

  app.get('/', OPEN, (request, reply) => sendPage(folder, request, reply));
  app.get<{ Params: { file: string } }>('/assets/:file', OPEN, async ({ params: { file } }, reply) => {
    if (!FILE.test(file)) throw refuse('ROUTE_NOT_FOUND', 'there is no such file');
    return reply.sendFile(file, assets);
  });

  return {
    async answer(request, reply) {
      const file = await fileFor(folder, request);
      if (file !== undefined) reply.sendFile(file, folder);
      else if (looksForPage(request)) await sendPage(folder, request, reply);
      else return false;
      return true;
    },
  };
}

/** What stands beside the page: an icon, and what the page loads before anything else. */
async function fileFor(folder: string, { method, url }: FastifyRequest): Promise<string | undefined> {
  const [path = ''] = url.split('?', 1);
  const name = path.slice(1);
  if (!(method === 'GET' || method === 'HEAD') || !FILE.test(name) || name === 'index.html') return undefined;
  const found = await stat(join(folder, name)).catch(() => undefined);
  return found?.isFile() ? name : undefined;
}

/** The page of the console, under whatever address. Its digest and not its time of change tells two of them apart. */
async function sendPage(folder: string, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  reply.header('content-security-policy', PAGE_POLICY);
  const page = await readFile(join(folder, 'index.html')).catch(() => undefined);
  if (!page) return reply.code(503).type(HTML).send(UNBUILT);
  const etag = `"${createHash('sha256').update(page).digest('base64url').slice(0, 27)}"`;
  reply.headers({ 'cache-control': CHECKED, etag });
  const known = request.headers['if-none-match'];
  if (known !== undefined && isKnown(known, etag)) return reply.code(304).send();
  return reply.type(HTML).send(page);
}

/** A proxy that compresses makes a digest a weak one. */
function isKnown(header: string, etag: string): boolean {
  return header.split(',').some((one) => ['*', etag].includes(one.trim().replace(/^W\//, '')));
}
