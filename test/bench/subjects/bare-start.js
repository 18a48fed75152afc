/**
 * The bare limit of a start: loads the packages that the edge is built on, from the same bundles and with a compile cache like a
 * target, and serves one HTTP route at the port in its first argument. It is JavaScript, as services/main.js.
 */
import { useBundledPackages } from '../../../lib/bundled-packages.js';
import { enableCompileCache } from '../../../services/bootstrap/compile-cache.js';

enableCompileCache();
useBundledPackages();
// Loaded by the entry point of the service, before the flags of a start are set. V8 refuses code with other flags.
await import('pino');
await import('prom-client');
const { limitYoungGeneration } = await import('../../../services/bootstrap/young-generation.ts');
limitYoungGeneration();
const { default: Fastify } = await import('fastify');
await import('@redis/client');
await import('nice-grpc');
await import('typebox');
const { NO_SCHEMA_COMPILERS } = await import('../../../edge/plugins/no-schema-compilers.ts');
const app = Fastify({ schemaController: NO_SCHEMA_COMPILERS });
app.get('/readyz', () => ({ status: 'ready' }));
await app.listen({ host: '127.0.0.1', port: Number(process.argv[2]) });
