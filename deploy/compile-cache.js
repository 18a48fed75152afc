/**
 * Fills Node's compile cache with the code of every target, of the drivers that separate processes use, and of what they load
 * later. Node writes the cache when this process exits. It opens nothing. With one missing TypeScript file, a process or thread
 * loads a compiler.
 *
 * V8 refuses code that was compiled with other flags, so that the cache would be of no use to a process that cannot write it.
 * This program therefore sets the flags of a start at the same points: after the entry point, and after the start.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { useBundledPackages } from '../lib/bundled-packages.js';
import { enableCompileCache } from '../services/bootstrap/compile-cache.js';

enableCompileCache();
useBundledPackages();
await import('../services/bootstrap/main.ts');
const { letYoungGenerationGrow, limitYoungGeneration } = await import(
  '../services/bootstrap/young-generation.ts'
);
limitYoungGeneration();
await Promise.all([
  import('../edge/server.ts'),
  import('../lib/blobs/open.ts'),
  import('../lib/blobs/s3.ts'),
  import('../lib/bus/redis.ts'),
  import('../lib/bus/redis-rate-limiter.ts'),
  import('../lib/db/probe.ts'),
  import('../lib/grpc/channel.ts'),
  import('../lib/grpc/create-metadata.ts'),
  import('../lib/grpc/reflection.ts'),
  import('../lib/grpc/server.ts'),
  import('../lib/grpc/tls.ts'),
  import('../lib/models/models-file.ts'),
  import('../lib/models/parse-models.ts'),
  import('../lib/telemetry/sdk.ts'),
  import('../services/agents/service.ts'),
  import('../services/auth/service.ts'),
  import('../services/bootstrap/contracts.ts'),
  import('../services/bootstrap/failure.ts'),
  import('../services/bootstrap/open.ts'),
  import('../services/bootstrap/preflight.ts'),
  import('../services/bootstrap/sandboxes.ts'),
  import('../services/channels/service.ts'),
  import('../services/deployments/service.ts'),
  import('../services/files/service.ts'),
  import('../services/runner/service.ts'),
  import('../services/sessions/service.ts'),
  import('../services/vaults/keys/kms-kek.ts'),
  import('../services/vaults/service.ts'),
  // Loaded later, but a channel worker keeps the flags of the start.
  import('../services/channels/products/discord/product.ts'),
  import('../services/channels/products/http/product.ts'),
  import('../services/channels/products/slack/product.ts'),
  import('../services/channels/products/telegram/product.ts'),
]);
letYoungGenerationGrow();
await Promise.all([
  import('../edge/ai-stream/messages.ts'),
  import('../edge/ai-stream/serve.ts'),
  import('../edge/openapi/document.ts'),
  import('../edge/openapi/guide.ts'),
  import('../edge/protocols/a2a/card.ts'),
  import('../edge/protocols/a2a/serve.ts'),
  import('../edge/protocols/mcp/serve.ts'),
  import('../edge/protocols/openai/chat/route.ts'),
  import('../edge/protocols/openai/responses/create.ts'),
  import('../edge/protocols/openai/responses/stored.ts'),
  import('../lib/mcp/connection.ts'),
]);
const { threadEnvironment } = await import('../lib/thread-environment.ts');
for (const program of [
  '../lib/json-schema/main.js',
  '../services/agents/skill-archive/worker.ts',
  '../services/runner/tools/search/worker.ts',
]) {
  const worker = new Worker(new URL(program, import.meta.url), { env: threadEnvironment(), workerData: {} });
  // Each of them sends a message when it has loaded: that it is ready, that the archive is damaged, and an empty result.
  worker.postMessage({ paths: [] });
  await once(worker, 'message');
  await worker.terminate();
}
