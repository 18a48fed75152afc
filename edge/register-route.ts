import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { TObject } from 'typebox';
import { refuse } from '../lib/errors.ts';
import type { CallOptions } from '../lib/grpc/contract.ts';
import { READ_METHODS } from './access.ts';
import type { RouteResponse } from './envelope.ts';
import { announcesBody, OVERSIZE, readBoundedBody, requireJson } from './input/body.ts';
import { weakTag } from './input/entity-tags.ts';
import { type InlineData, NO_INLINE_DATA, takeInlineData } from './input/inline-data.ts';
import { checkStorable, readJson } from './input/json.ts';
import { checkPath } from './input/path.ts';
import { isNotModified, refuseIfMatch } from './input/preconditions.ts';
import { createQueryReader, type RawQuery } from './input/query.ts';
import { createCheck } from './input/schema.ts';
import { COMPRESSION, compressionOf } from './plugins/compression.ts';
import { disconnectSignal } from './plugins/disconnect-signal.ts';
import {
  type Exchange,
  isRaw,
  type JsonRoute,
  type RawHandler,
  type RawRoute,
  type Route,
  type RouteContext,
} from './route.ts';
import { closed } from './schemas/common.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set on routes that are declared with `route()`. */
    operationId?: string;
  }
}

export const API_PREFIX = '/api/v1';
const DEFAULT_BODY_BYTES = 1024 * 1024;
const NO_QUERY = closed({});

/** The URL pattern of a path at the root, as the HTTP framework writes it. */
const rootUrl = (path: string) => path.replace(/\{(\w+)\}/g, ':$1');
/** The URL pattern of an API path. */
export const routeUrl = (path: string) => API_PREFIX + rootUrl(path);

/** Registers a declared route with the HTTP framework. */
export function registerRoute(app: FastifyInstance, route: Route, context: RouteContext): void {
  const { path, operationId } = route;
  if (!isRaw(route)) {
    const { access } = route;
    const config = { operationId, ...(access && { access }) };
    const handler = createJsonHandler(route, context);
    const url = routeUrl(path);
    app.route({ method: methodsOf(route), url, config, handler, compress: compressionOf(route) });
    return;
  }
  const access = (context.authenticator.mode === 'local' && route.localAccess) || route.access;
  const config = { operationId, ...route.config, ...(access && { access }) };
  const handle = route.createHandler(context, createQueryReader((route.query ?? NO_QUERY) as TObject));
  const handler: RawHandler =
    route.ignoresIfMatch || evaluatesIfMatch(route)
      ? handle
      : (request, reply) => {
          refuseIfMatch(request.raw);
          return handle(request, reply);
        };
  for (const url of urlsOf(route))
    app.route({
      method: methodsOf(route),
      url,
      config,
      handler,
      compress: route.compressed ? COMPRESSION : false,
    });
}

function methodsOf(route: Route): string | string[] {
  const isServed = route.method === 'GET' && !(isRaw(route) && route.head === false);
  return isServed ? READ_METHODS : route.method;
}

function urlsOf({ path, atRoot, alsoAtRoot }: RawRoute): string[] {
  if (atRoot) return [rootUrl(path)];
  return alsoAtRoot ? [routeUrl(path), rootUrl(path)] : [routeUrl(path)];
}

function evaluatesIfMatch({ headers = [] }: Route): boolean {
  return headers.includes('If-Match');
}

/** Validates requests in the documented order (body, query, path), calls the route and sends its response. */
function createJsonHandler(
  route: JsonRoute,
  { clients, sealer, configuration, authenticator, draining }: RouteContext,
): RawHandler {
  const readQuery = createQueryReader((route.query ?? NO_QUERY) as TObject);
  const read = route.body ? createBodyReader(route) : undefined;

  return async (request, reply) => {
    const params = request.params as Record<string, string>;
    const { value: body, inlineData } = (await read?.(request)) ?? NO_BODY;
    const query = readQuery(request.query as RawQuery);
    if (!evaluatesIfMatch(route)) refuseIfMatch(request.raw);
    checkPath(params, route.errors);
    const exchange: Exchange = {
      clients,
      sealer,
      authenticator,
      configuration,
      call: request.call ?? anonymousCall(request, reply),
      param: (name) => params[name] ?? '',
      query,
      body,
      draining,
      inlineData,
      request,
      reply,
    };
    const response = await route.answer(exchange as Exchange<never, never>);
    const tag = route.method === 'GET' ? tagOf(route, response) : undefined;
    if (tag === undefined && route.method === 'GET') refuseIfMatch(request.raw);
    if (tag !== undefined) {
      // Evaluated first, because a refusal of the header has no ETag.
      const isUnchanged = isNotModified(request.raw, tag);
      reply.header('etag', tag);
      if (isUnchanged) return reply.code(304).send();
    }
    reply
      .code(response.status ?? route.success.status)
      .headers(response.headers ?? {})
      .type('application/json; charset=utf-8');
    return response.text;
  };
}

/** The entity tag of a response: the revision of a resource, or a digest of a page of a list. */
function tagOf({ success }: JsonRoute, { text, headers }: RouteResponse): string | undefined {
  return headers?.etag ?? (success.list ? weakTag(text) : undefined);
}

/** Options of calls on behalf of a request without a caller. */
export function anonymousCall({ span, id }: FastifyRequest, reply: FastifyReply): CallOptions {
  return { signal: disconnectSignal(reply), trace: span.trace, requestId: id };
}

interface ParsedBody {
  value: unknown;
  inlineData: InlineData;
}

const NO_BODY: ParsedBody = { value: undefined, inlineData: NO_INLINE_DATA };

function createBodyReader({ body, bodyOptional, bodyLimit = DEFAULT_BODY_BYTES, ...route }: JsonRoute) {
  const check = createCheck(body ?? closed({}));
  return async ({ raw }: FastifyRequest): Promise<ParsedBody> => {
    if (bodyOptional && !announcesBody(raw)) return { ...NO_BODY, value: check({}) };
    const { value, inlineData } = route.inlineData
      ? await receiveMessage(raw, bodyLimit)
      : { ...NO_BODY, value: await receiveJson(raw, bodyLimit) };
    checkStorable(value);
    return { value: check(value), inlineData };
  };
}

/**
 * Reads a JSON request body of at most `limit` bytes. The value is not validated. Refuses with UNSUPPORTED_MEDIA_TYPE,
 * PAYLOAD_TOO_LARGE or INVALID_REQUEST.
 */
export async function receiveJson(raw: FastifyRequest['raw'], limit: number): Promise<unknown> {
  requireJson(raw);
  return readJson(await collectBody(raw, limit));
}

/** Like `receiveJson`, for a body with the content of a message, whose inline data is decoded on its own. */
export async function receiveMessage(raw: FastifyRequest['raw'], limit: number): Promise<ParsedBody> {
  requireJson(raw);
  const { json, inlineData } = takeInlineData(await collectBody(raw, limit));
  return { value: readJson(json), inlineData };
}

function collectBody(raw: FastifyRequest['raw'], limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    readBoundedBody(raw, raw.headers['content-length'], limit, (error, body) => {
      if (error) reject(error);
      else if (body === OVERSIZE)
        reject(refuse('PAYLOAD_TOO_LARGE', `The request body exceeds the limit of ${limit} bytes.`));
      else resolve(body);
    });
  });
}
