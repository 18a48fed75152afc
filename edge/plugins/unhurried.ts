import type { FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body may take longer than any other request, as long as something of it comes: the route sees to that. */
    unhurried?: boolean;
  }
}

export function isUnhurried({ routeOptions }: FastifyRequest): boolean {
  return routeOptions?.config?.unhurried === true;
}
