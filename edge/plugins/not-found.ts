import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { refuse } from '../../lib/errors.ts';

/** Handles requests for paths without a route. */
export interface FallbackHandler {
  /** Resolves to whether it has sent a response. */
  respond(request: FastifyRequest, reply: FastifyReply): Promise<boolean>;
}

/**
 * Responds with ROUTE_NOT_FOUND to unknown paths and with METHOD_NOT_ALLOWED to known paths with another method. It has to
 * be registered before the routes, because it collects them. `fallback` is called per request, after startup.
 */
export function handleNotFound(app: FastifyInstance, fallback: () => FallbackHandler): void {
  const routes: { methods: string[]; path: RegExp }[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    const pattern = url.replace(/[.*+?^$|()[\]\\]/g, '\\$&').replace(/:\w+/g, '[^/]+');
    routes.push({ methods: [method].flat(), path: new RegExp(`^${pattern}$`) });
  });
  app.setNotFoundHandler(async (request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '/';
    const allowed = new Set(
      routes.filter((route) => route.path.test(path)).flatMap((route) => route.methods),
    );
    if (allowed.size === 0 && (await fallback().respond(request, reply))) return reply;
    // A route with this method calls the handler itself when its file does not exist.
    if (allowed.size === 0 || allowed.has(request.method))
      throw refuse('ROUTE_NOT_FOUND', 'There is no such path.');
    reply.header('allow', [...allowed].sort().join(', '));
    throw refuse('METHOD_NOT_ALLOWED', `This path does not support the method ${request.method}.`);
  });
}
