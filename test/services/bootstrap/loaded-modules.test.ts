import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUNDLED_IMPORTS, bundleFile, bundleFolder } from '../../../lib/bundled-packages.js';
import { createDatabase } from '../../support/database.ts';
import { freePort } from '../../support/port.ts';
import { runProgram } from '../../support/program.ts';
import { scratch } from '../../support/scratch.ts';
import { planTargets, TARGETS } from '../../support/targets.ts';
import { until } from '../../support/wait.ts';

const ROOT = new URL('../../../', import.meta.url);
const FILL = fileURLToPath(new URL('deploy/compile-cache.js', ROOT));
const HOOK = fileURLToPath(new URL('../../support/loaded-modules.js', import.meta.url));

/** A target reads the settings of all modules, to report unknown ones, and knows all problems of a start. */
const SETTINGS =
  /^(services\/[^/]+\/config\.ts|services\/runner\/models\/(optional-)?provider-settings\.ts|services\/vaults\/keys\/(settings|problem)\.ts|edge\/config\.ts)$/;
/** The package of an import, such as `@bufbuild/protobuf` of `@bufbuild/protobuf/wire`. */
const packageOf = (specifier: string) =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

/** Packages that take long to load, and the targets that may load them. */
const PACKAGES: Record<string, readonly string[]> = {
  // Their bundles are loaded instead. A process with both would have the package twice.
  ...Object.fromEntries(BUNDLED_IMPORTS.map((specifier) => [packageOf(specifier), []])),
  '@ai-sdk/amazon-bedrock': [],
  '@ai-sdk/azure': [],
  '@ai-sdk/google': [],
  '@ai-sdk/google-vertex': [],
  'google-auth-library': [],
  ajv: [],
  'just-bash': [],
  'pino-pretty': [],
  '@scalar/fastify-api-reference': [],
  // Loaded with the first request of the protocol.
  '@modelcontextprotocol/server': [],
  '@modelcontextprotocol/ext-tasks': [],
  '@a2a-js/sdk': [],
};

/** Packages that are loaded from a bundle, and the targets that may load them. */
const BUNDLED: Record<string, readonly string[]> = {
  'ai/internal': ['runner'],
  fastify: ['edge'],
  minio: ['files'],
  'openid-client': ['auth'],
  pg: ['auth', 'agents', 'sessions', 'files', 'deployments', 'vaults'],
  typebox: ['edge', 'runner'],
  'nice-grpc': TARGETS,
  '@redis/client': TARGETS,
};
/** An import that is evaluated when its function is called. */
const LATER_IMPORT = /\bimport\('(\.[^']+\.ts)'\)/g;
/** Validates a value and matches a path, with the flags of a process that has started. */
const THREADS = `
import { letYoungGenerationGrow, limitYoungGeneration } from '${ROOT}services/bootstrap/young-generation.ts';
import { SchemaValidator } from '${ROOT}lib/json-schema/validator.ts';
import { systemClock } from '${ROOT}lib/clock.ts';
import { Searcher } from '${ROOT}services/runner/tools/search/searcher.ts';
limitYoungGeneration();
letYoungGenerationGrow();
// A thread does not keep the process alive.
const alive = setInterval(() => {}, 1_000);
await using validator = new SchemaValidator(systemClock);
await validator.validate({ schemaJson: '{"type":"string"}', json: '"text"' });
await using searcher = new Searcher({ pattern: 'a', ignoreCase: false, glob: '' }, systemClock);
await searcher.filterPaths(['a']);
clearInterval(alive);`;
const bundleUrl = (specifier: string) =>
  pathToFileURL(join(bundleFolder(fileURLToPath(ROOT)), bundleFile(specifier))).href;
const permittedIn = (packages: Record<string, readonly string[]>, target: string) =>
  Object.keys(packages).filter((name) => packages[name]?.includes(target));

interface LoadedModules {
  /** Folders with product code other than settings: `services/sessions`, `edge` and so on. */
  folders: string[];
  packages: string[];
  /** Packages of which a bundle was loaded. */
  bundles: string[];
  /** Whether Node has compiled TypeScript, and has loaded its compiler for this. */
  hasCompiled: boolean;
  /** The number of modules whose compiled code in the cache V8 has used and refused. */
  accepted: number;
  refused: number;
  /** Whether Node has loaded its implementation of fetch. */
  hasFetch: boolean;
}

/** Starts a target alone with this compile cache, stops it and returns what it has loaded. */
async function modulesLoadedBy(
  target: string,
  cache: string,
  env: Record<string, string>,
): Promise<LoadedModules> {
  const listen = `127.0.0.1:${await freePort()}`;
  const directory = await mkdtemp(join(scratch(), 'ahs-test-modules-'));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rm(directory, { recursive: true }));
  const file = join(directory, 'loaded');
  const observed = {
    NODE_OPTIONS: `--import=${HOOK}`,
    TEST_LOADED_MODULES: file,
    NODE_COMPILE_CACHE: cache,
    NODE_DEBUG_NATIVE: 'COMPILE_CACHE',
  };
  const program = runProgram({ ...env, ...observed, SERVICE_METRICS_LISTEN: listen }, [`--target=${target}`]);
  stack.defer(async () => {
    program.kill('SIGKILL');
    await program.exited;
  });
  await until(`${target} has started`, async () => {
    const answer = await fetch(`http://${listen}/livez`).catch(() => undefined);
    return answer?.ok === true;
  });
  program.kill('SIGTERM');
  expect(await program.exited, program.output()).toBe(0);
  const loaded = (await readFile(file, 'utf8')).split('\n');
  const urls = loaded.filter((url) => url.startsWith(ROOT.href));
  const paths = urls.map((url) => url.slice(ROOT.href.length)).filter((path) => !SETTINGS.test(path));
  const matches = (pattern: RegExp) => [...new Set(paths.flatMap((path) => pattern.exec(path)?.[1] ?? []))];
  return {
    folders: matches(/^(edge|services\/[^/]+)\//),
    packages: matches(/^node_modules\/(@[^/]+\/[^/]+|[^./][^/]*)\//),
    bundles: Object.keys(BUNDLED).filter((specifier) => urls.includes(bundleUrl(specifier))),
    accepted: program.output().split('was accepted').length - 1,
    refused: program.output().split('was rejected').length - 1,
    hasCompiled: loaded.includes('internal/deps/amaro/dist/index'),
    hasFetch: loaded.includes('internal/deps/undici/undici'),
  };
}

describe('the program with one target', () => {
  let cache: string;
  /** What the program has loaded that fills the cache. */
  let filled: string[];

  beforeAll(async () => {
    cache = await mkdtemp(join(scratch(), 'ahs-test-compile-cache-'));
    const list = join(cache, 'loaded');
    const env = { ...process.env, NODE_COMPILE_CACHE: cache, TEST_LOADED_MODULES: list };
    await promisify(execFile)(process.execPath, [`--import=${HOOK}`, FILL], { env });
    filled = (await readFile(list, 'utf8')).split('\n');
  });
  afterAll(() => rm(cache, { recursive: true }));

  it('finds every file that it loads later in the compile cache of the image', async () => {
    const later: string[] = [];
    for (const folder of ['edge', 'lib', 'services'])
      for (const path of await readdir(new URL(folder, ROOT), { recursive: true })) {
        if (!/\.(js|ts)$/.test(path)) continue;
        const file = new URL(`${folder}/${path}`, ROOT);
        for (const [, imported = ''] of (await readFile(file, 'utf8')).matchAll(LATER_IMPORT))
          later.push(new URL(imported, file).href);
      }
    expect(later.length).toBeGreaterThan(30);
    const missing = later.filter((url) => !filled.includes(url)).map((url) => url.slice(ROOT.href.length));
    expect(missing.toSorted()).toEqual([
      // Only in target all: an image has no embedded database.
      'lib/db/embedded.ts',
      // Only in the thread that validates values.
      'lib/json-schema/worker.ts',
    ]);
  });

  it('starts threads without a compiler', async () => {
    // Of its own, because the program compiles some modules with other flags and writes them when it exits.
    const copy = await mkdtemp(join(scratch(), 'ahs-test-compile-cache-'));
    await using stack = new AsyncDisposableStack();
    stack.defer(() => rm(copy, { recursive: true }));
    await cp(cache, copy, { recursive: true });
    const program = join(copy, 'threads.mjs');
    await writeFile(program, THREADS);
    const { stderr } = await promisify(execFile)(process.execPath, [program], {
      env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: copy, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' },
    });
    const ofThreads = stderr.split('\n').filter((line) => /(json-schema|search)\/worker\.ts/.test(line));
    expect(ofThreads.filter((line) => line.includes('was accepted'))).toHaveLength(2);
    expect(ofThreads.filter((line) => line.includes('no such file'))).toEqual([]);
  });

  it.each(TARGETS)(
    'loads the code of the target %s only, all of it from the compile cache',
    async (target) => {
      await using database = await createDatabase();
      // It starts without Redis and without an object store, and is degraded.
      const { settings } = await planTargets({
        SERVICE_DATABASE_URL: database.url,
        SERVICE_REDIS_URL: `redis://127.0.0.1:${await freePort()}`,
        SERVICE_S3_ENDPOINT: `http://127.0.0.1:${await freePort()}`,
        SERVICE_S3_ACCESS_KEY: 'key',
        SERVICE_S3_SECRET_KEY: 'secret',
        SERVICE_LOG_LEVEL: 'silent',
      });
      const { folders, packages, bundles, accepted, refused, hasCompiled, hasFetch } = await modulesLoadedBy(
        target,
        cache,
        settings[target],
      );
      expect(accepted).toBeGreaterThan(100);
      expect(refused).toBe(0);
      // The S3 client imports all of `node:http` (lib/http.ts).
      expect({ hasCompiled, hasFetch }).toEqual({ hasCompiled: false, hasFetch: target === 'files' });
      const own = target === 'edge' ? 'edge' : `services/${target}`;
      expect(folders.toSorted()).toEqual([own, 'services/bootstrap'].toSorted());
      const observed = packages.filter((name) => Object.hasOwn(PACKAGES, name));
      expect(observed.toSorted()).toEqual(permittedIn(PACKAGES, target).toSorted());
      expect(bundles.toSorted()).toEqual(permittedIn(BUNDLED, target).toSorted());
    },
  );
});
