import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { TObject } from 'typebox';
import { refuse } from '../lib/errors.ts';
import type { EdgeContext } from './context.ts';
import { announcesBody, OVERSIZE, readBody, requireJson } from './input/body.ts';
import { parseJson } from './input/json.ts';
import { checkPath } from './input/path.ts';
import { createQueryReader, type RawQuery } from './input/query.ts';
import { createCheck } from './input/schema.ts';
import { identify } from './plugins/identity.ts';
import type { Exchange, Route } from './route.ts';
import { closed } from './schemas/common.ts';

export const API = '/api/v1';
const BODY_BYTES = 1024 * 1024;
const NO_QUERY = closed({});

/** Puts a declared route into service: identity, form and size are checked in the documented order, then it answers. */
export function serve(app: FastifyInstance, route: Route, { clients }: EdgeContext): void {
  const readQuery = createQueryReader((route.query ?? NO_QUERY) as TObject);
  const readJson = route.body ? createJsonReader(route) : undefined;

  async function handle(request: FastifyRequest, reply: FastifyReply): Promise<string> {
    const params = request.params as Record<string, string>;
    const call = await identify(clients, request, reply);
    const body = readJson ? await readJson(request) : undefined;
    const query = readQuery(request.query as RawQuery);
    checkPath(params, route.errors);
    const exchange: Exchange = {
      clients,
      call,
      param: (name) => params[name] ?? '',
      query,
      body,
      request,
      reply,
    };
    const { text, headers } = await route.answer(exchange as Exchange<never, never>);
    reply
      .code(route.success.status)
      .headers(headers ?? {})
      .type('application/json; charset=utf-8');
    return text;
  }

  app.route({ method: route.method, url: API + route.path.replace(/\{(\w+)\}/g, ':$1'), handler: handle });
}

function createJsonReader({ body, bodyOptional, bodyLimit = BODY_BYTES }: Route) {
  const check = createCheck(body ?? closed({}));
  return async ({ raw }: FastifyRequest): Promise<unknown> => {
    if (bodyOptional && !announcesBody(raw)) return check({});
    requireJson(raw);
    const bytes = await collect(raw, bodyLimit);
    return check(parseJson(bytes));
  };
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
