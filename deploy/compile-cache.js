/**
 * Fills Node's compile cache with the code of every target and of the drivers that separate processes use. Node writes the
 * cache when this process exits. It opens nothing. With one missing TypeScript file, every start loads a compiler.
 *
 * V8 refuses code that was compiled with other flags, so that the cache would be of no use to a process that cannot write it.
 * This program therefore sets the flags of a start at the same point, between the entry point and the modules of a target.
 */
import { useBundledPackages } from '../lib/bundled-packages.js';
import { enableCompileCache } from '../services/bootstrap/compile-cache.js';

enableCompileCache();
useBundledPackages();
await import('../services/bootstrap/main.ts');
const { limitYoungGeneration } = await import('../services/bootstrap/young-generation.ts');
limitYoungGeneration();
await Promise.all([
  import('../edge/server.ts'),
  import('../lib/blobs/open.ts'),
  import('../lib/blobs/s3.ts'),
  import('../lib/bus/redis.ts'),
  import('../lib/bus/redis-rate-limiter.ts'),
  import('../lib/db/probe.ts'),
  import('../lib/grpc/channel.ts'),
  import('../lib/grpc/server.ts'),
  import('../lib/grpc/tls.ts'),
  import('../services/agents/service.ts'),
  import('../services/auth/service.ts'),
  import('../services/bootstrap/open.ts'),
  import('../services/bootstrap/preflight.ts'),
  import('../services/bootstrap/sandboxes.ts'),
  import('../services/channels/service.ts'),
  import('../services/deployments/service.ts'),
  import('../services/files/service.ts'),
  import('../services/runner/service.ts'),
  import('../services/sessions/service.ts'),
  import('../services/vaults/service.ts'),
]);
