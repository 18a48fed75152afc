import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { TObject } from 'typebox';
import { refuse } from '../lib/errors.ts';
import type { CallOptions } from '../lib/grpc/contract.ts';
import type { EdgeContext } from './context.ts';
import type { Door } from './door/door.ts';
import { announcesBody, OVERSIZE, readBody, requireJson } from './input/body.ts';
import { checkKeepable, readJson } from './input/json.ts';
import { checkPath } from './input/path.ts';
import { createQueryReader, type RawQuery } from './input/query.ts';
import { createCheck } from './input/schema.ts';
import { presenceOf } from './plugins/presence.ts';
import type { Exchange, Route } from './route.ts';
import { closed } from './schemas/common.ts';

export const API = '/api/v1';
const BODY_BYTES = 1024 * 1024;
const NO_QUERY = closed({});

/** Where the HTTP framework finds a path of the API. */
export const urlOf = (path: string) => API + path.replace(/\{(\w+)\}/g, ':$1');

/** Puts a declared route into service: behind the door, form and size are checked in the documented order, then it answers. */
export function serve(
  app: FastifyInstance,
  route: Route,
  { clients, configuration, door }: Pick<EdgeContext, 'clients' | 'configuration'> & { door: Door },
): void {
  const readQuery = createQueryReader((route.query ?? NO_QUERY) as TObject);
  const read = route.body ? createBodyReader(route) : undefined;

  async function handle(request: FastifyRequest, reply: FastifyReply): Promise<string> {
    const params = request.params as Record<string, string>;
    const body = await read?.(request);
    const query = readQuery(request.query as RawQuery);
    checkPath(params, route.errors);
    const exchange: Exchange = {
      clients,
      door,
      configuration,
      call: request.call ?? anonymous(request, reply),
      param: (name) => params[name] ?? '',
      query,
      body,
      request,
      reply,
    };
    const answer = await route.answer(exchange as Exchange<never, never>);
    reply
      .code(route.success.status)
      .headers(answer.headers ?? {})
      .type('application/json; charset=utf-8');
    return answer.text;
  }

  const { method, path, access } = route;
  app.route({ method, url: urlOf(path), handler: handle, config: access ? { access } : {} });
}

/** For calls that are made for whoever has sent the request. */
export function anonymous({ span, id }: FastifyRequest, reply: FastifyReply): CallOptions {
  return { signal: presenceOf(reply), trace: span.trace, requestId: id };
}

function createBodyReader({ body, bodyOptional, bodyLimit = BODY_BYTES }: Route) {
  const check = createCheck(body ?? closed({}));
  return async ({ raw }: FastifyRequest): Promise<unknown> => {
    if (bodyOptional && !announcesBody(raw)) return check({});
    const value = await receiveJson(raw, bodyLimit);
    checkKeepable(value);
    return check(value);
  };
}

/** The JSON of a request body of at most `limit` bytes, as far as its form goes. */
export async function receiveJson(raw: FastifyRequest['raw'], limit: number): Promise<unknown> {
  requireJson(raw);
  return readJson(await collect(raw, limit));
}

function collect(raw: FastifyRequest['raw'], limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    readBody(raw, raw.headers['content-length'], limit, (error, body) => {
      if (error) reject(error);
      else if (body === OVERSIZE)
        reject(refuse('PAYLOAD_TOO_LARGE', `the body is longer than the ${limit} bytes this route takes`));
      else resolve(body);
    });
  });
}
