import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { refuse } from '../../lib/errors.ts';

/** What is asked about paths that no route has. */
export interface LastResort {
  /** Gives whether it has answered. */
  answer(request: FastifyRequest, reply: FastifyReply): Promise<boolean>;
}

/**
 * Answers for paths that do not exist, and for those that do, but not with that method. Registered before
 * the routes, of which it keeps a list. The last resort is there when requests come.
 */
export function refuseUnknown(app: FastifyInstance, resort: () => LastResort): void {
  const served: { methods: string[]; path: RegExp }[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    const pattern = url.replace(/[.*+?^$|()[\]\\]/g, '\\$&').replace(/:\w+/g, '[^/]+');
    served.push({ methods: [method].flat(), path: new RegExp(`^${pattern}$`) });
  });
  app.setNotFoundHandler(async (request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '/';
    const allowed = new Set(served.filter((one) => one.path.test(path)).flatMap((one) => one.methods));
    if (allowed.size === 0 && (await resort().answer(request, reply))) return reply;
    // A route that has the method says so itself when there is nothing behind the path.
    if (allowed.size === 0 || allowed.has(request.method))
      throw refuse('ROUTE_NOT_FOUND', 'there is no such path');
    reply.header('allow', [...allowed].sort().join(', '));
    throw refuse('METHOD_NOT_ALLOWED', `this path does not have the method ${request.method}`);
  });
}
