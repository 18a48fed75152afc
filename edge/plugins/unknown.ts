import type { FastifyInstance } from 'fastify';
import { refuse } from '../../lib/errors.ts';

/**
 * Answers for paths that do not exist, and for those that do, but not with that method. Registered before
 * the routes, of which it keeps a list.
 */
export function refuseUnknown(app: FastifyInstance): void {
  const served: { methods: string[]; path: RegExp }[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    const pattern = url.replace(/[.*+?^$|()[\]\\]/g, '\\$&').replace(/:\w+/g, '[^/]+');
    served.push({ methods: [method].flat(), path: new RegExp(`^${pattern}$`) });
  });
  app.setNotFoundHandler(async (request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '/';
    const allowed = new Set(served.filter((one) => one.path.test(path)).flatMap((one) => one.methods));
    if (allowed.size === 0) throw refuse('ROUTE_NOT_FOUND', 'there is no such path');
    reply.header('allow', [...allowed].sort().join(', '));
    throw refuse('METHOD_NOT_ALLOWED', `this path does not have the method ${request.method}`);
  });
}
