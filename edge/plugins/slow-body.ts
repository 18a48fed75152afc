import type { FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The request timeout does not apply to the body. The route itself limits the time without progress. */
    slowBody?: boolean;
  }
}

export function allowsSlowBody({ routeOptions }: FastifyRequest): boolean {
  return routeOptions?.config?.slowBody === true;
}
