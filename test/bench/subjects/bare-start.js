/**
 * The bare limit of a start: loads the packages that the edge is built on, from the same bundles and with a compile cache like a
 * target, and serves one HTTP route at the port in its first argument. It is JavaScript, as services/main.js.
 */
import { useBundledPackages } from '../../../lib/bundled-packages.js';
import { enableCompileCache } from '../../../services/bootstrap/compile-cache.js';

enableCompileCache();
useBundledPackages();
// V8 shares compiled code only between processes with the same flags.
const { limitYoungGeneration } = await import('../../../services/bootstrap/young-generation.ts');
limitYoungGeneration();
const { default: Fastify } = await import('fastify');
await import('@redis/client');
await import('nice-grpc');
await import('pino');
await import('prom-client');
await import('typebox');
const app = Fastify();
app.get('/readyz', () => ({ status: 'ready' }));
process.once('SIGTERM', () => process.exit());
await app.listen({ host: '127.0.0.1', port: Number(process.argv[2]) });
