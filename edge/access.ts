import type { FastifyInstance, RouteOptions } from 'fastify';

/**
 * The access that a route requires: none (`open`), or a credential with this scope. `write` includes `read`; no scope
 * includes `mcp`, which protocol endpoints require. Some of them accept `write` instead (`mcp_or_write`). The services check
 * roles and ownership.
 */
export type RouteAccess = 'open' | 'read' | 'write' | 'admin' | 'mcp' | 'mcp_or_write';

/** The scopes of which a credential needs one. */
export function acceptedScopes(access: RouteAccess): readonly string[] {
  if (access === 'open') return [];
  return access === 'mcp_or_write' ? ['mcp', 'write'] : [access];
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Default: see `defaultAccess`. */
    access?: RouteAccess;
  }
}

/** A registered route. */
export interface RegisteredRoute {
  method: string;
  /** The complete path, with parameters in braces. */
  path: string;
  access: RouteAccess;
  /** Undefined for routes that are not declared as operations of the API. */
  operationId: string | undefined;
}

/** The methods of a route that reads. HEAD uses the handler of GET, and Node leaves the body out. */
export const READ_METHODS = ['GET', 'HEAD'];

/** The required scope of a route that declares none: `admin` below /admin, else `read` or `write` by its method. */
export function defaultAccess(method: string, path: string): RouteAccess {
  if (path.startsWith('/api/v1/admin/')) return 'admin';
  return READ_METHODS.includes(method) ? 'read' : 'write';
}

/** Sets the access of every route that is registered after this call, so that only declared routes are open. */
export function applyRouteAccess(app: FastifyInstance): readonly RegisteredRoute[] {
  const routes: RegisteredRoute[] = [];
  app.addHook('onRoute', (options: RouteOptions) => {
    for (const method of [options.method].flat()) {
      const path = options.url.replace(/:(\w+)/g, '{$1}');
      const access = options.config?.access ?? defaultAccess(method, path);
      options.config = { ...options.config, access };
      routes.push({ method, path, access, operationId: options.config.operationId });
    }
  });
  return routes;
}
