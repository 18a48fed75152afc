import type { FastifyInstance, RouteOptions } from 'fastify';

/**
 * Who may come in: anybody, or who shows a credential with this scope; `write` includes `read`. Whether somebody is an
 * administrator, or the owner of what is asked for, is for the services to say.
 */
export type Access = 'open' | 'read' | 'write' | 'admin';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Closed when absent: see `closedDefault`. */
    access?: Access;
  }
}

/** A route as it is served. */
export interface ServedRoute {
  method: string;
  /** From the root, with parameters in braces. */
  path: string;
  access: Access;
}

const READING = ['GET', 'HEAD'];

/** What a route asks for that does not say it: reading what is read, writing anything else, administration all of it. */
export function closedDefault(method: string, path: string): Access {
  if (path.startsWith('/api/v1/admin/')) return 'admin';
  return READING.includes(method) ? 'read' : 'write';
}

/** Gives every route that is registered from here on what it asks for, so that none is open that does not say so. */
export function closeRoutes(app: FastifyInstance): readonly ServedRoute[] {
  const served: ServedRoute[] = [];
  app.addHook('onRoute', (options: RouteOptions) => {
    for (const method of [options.method].flat()) {
      const path = options.url.replace(/:(\w+)/g, '{$1}');
      const access = options.config?.access ?? closedDefault(method, path);
      options.config = { ...options.config, access };
      served.push({ method, path, access });
    }
  });
  return served;
}
