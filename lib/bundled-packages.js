import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * The imports that the program finds in bundles: packages with many files that a process loads when it starts. `typebox` has
 * 680. Node reads, resolves and links each file on its own, which takes about 0.3 ms of CPU time.
 */
export const BUNDLED_IMPORTS = [
  '@ai-sdk/provider',
  '@ai-sdk/provider-utils',
  '@bufbuild/protobuf/wire',
  '@fastify/busboy',
  '@fastify/compress',
  '@fastify/cookie',
  '@fastify/static',
  '@grpc/grpc-js',
  '@opentelemetry/api',
  '@redis/client',
  'ai/internal',
  'fastify',
  'ipaddr.js',
  'jose',
  'minio',
  'nice-grpc',
  'openid-client',
  'pg',
  'pino',
  'prom-client',
  'typebox',
  'typebox/compile',
  'typebox/schema',
  'typebox/system',
  'zod/v4',
  'zod/v4/core',
  'zod/v4/mini',
];

/**
 * Packages that the bundled ones load only when they need them. They are loaded as they are.
 *
 * A bundle cannot find files beside its modules: do not use the transports of `pino` or the channelz service of `@grpc/grpc-js`.
 */
export const UNBUNDLED_PACKAGES = [
  '@fastify/ajv-compiler',
  '@fastify/fast-json-stringify-compiler',
  '@grpc/proto-loader',
  'light-my-request',
  'pg-native',
];

/**
 * Packages that only unused options of the bundled ones need, and their imports. The bundles have functions that throw instead:
 * `@fastify/static` loads `glob` for `serve` without `wildcard`.
 */
export const UNUSED_PACKAGES = new Map([['glob', ['glob']]]);

/** The folder of the bundles for the packages in package-lock.json and the lists above. It may not exist. */
export function bundleFolder(/** @type {string} */ root) {
  const digest = createHash('sha256');
  for (const path of ['package-lock.json', 'lib/bundled-packages.js'])
    if (existsSync(join(root, path))) digest.update(readFileSync(join(root, path)));
  const name = digest.digest('hex').slice(0, 16);
  return join(root, 'node_modules/.cache/agent-hosting-service-packages', name);
}

/** The file of an import in that folder. */
export const bundleFile = (/** @type {string} */ specifier) => `${specifier.replaceAll('/', '-')}.mjs`;

/** Relative imports of the program's own TypeScript. Packages have no TypeScript. */
const OWN_SOURCE = /^\.\.?\/.*\.ts$/;

/**
 * Lets this thread load the bundles that scripts/install.mjs has made. Without them the packages are loaded as they are. Call
 * this before the first import of a package.
 *
 * It also resolves imports of the program's own files, which Node would look up in the file system: that takes a tenth of a
 * start.
 */
export function useBundledPackages() {
  const folder = bundleFolder(fileURLToPath(new URL('..', import.meta.url)));
  /** @type {Map<string, string>} */
  const urls = new Map();
  if (existsSync(folder))
    for (const specifier of BUNDLED_IMPORTS)
      urls.set(specifier, pathToFileURL(join(folder, bundleFile(specifier))).href);
  module.registerHooks({
    resolve(specifier, context, nextResolve) {
      if (OWN_SOURCE.test(specifier)) {
        const { href } = new URL(specifier, context.parentURL);
        return { url: href, format: 'module-typescript', shortCircuit: true };
      }
      const url = urls.get(specifier);
      return url ? { url, shortCircuit: true } : nextResolve(specifier, context);
    },
  });
}
