import type { FastifyServerOptions } from 'fastify';

/**
 * Routes declare no schemas to the HTTP framework: `register-route.ts` validates requests. Without this option, the framework
 * loads 110 modules of two JSON Schema compilers that nothing would use.
 */
export const NO_SCHEMA_COMPILERS: NonNullable<FastifyServerOptions['schemaController']> = {
  compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema },
};

/** Called at start for a route with a schema. */
function refuseSchema(): never {
  throw new Error('Routes of the edge have no schema of the HTTP framework. Use route() instead.');
}
