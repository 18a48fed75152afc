/**
 * Fills Node's compile cache with the code of every target and of the drivers that separate processes use. Node writes the
 * cache when this process exits. It opens nothing. With one missing TypeScript file, every start loads a compiler.
 */
import { useBundledPackages } from '../lib/bundled-packages.js';
import { enableCompileCache } from '../services/bootstrap/compile-cache.js';

enableCompileCache();
useBundledPackages();
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
  import('../services/bootstrap/main.ts'),
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
