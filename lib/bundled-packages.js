import { existsSync, readFileSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * Packages with hundreds of modules: `typebox` has 680 and `@redis/client` 480. Loading them one by one takes 160 and 80 ms
 * of CPU time more than loading a few files. For each package: the entries that the program imports, by the name of their
 * file in the bundle.
 *
 * @type {Record<string, Record<string, string>>}
 */
export const PACKAGES = {
  typebox: {
    index: 'typebox',
    compile: 'typebox/compile',
    schema: 'typebox/schema',
    system: 'typebox/system',
  },
  '@redis/client': { index: '@redis/client' },
};

/** The folder of the bundle of the installed version of a package. It may not exist. */
export function bundleFolder(/** @type {string} */ root, /** @type {string} */ name) {
  const { version } = JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8'));
  const folder = `${name.replace('/', '+')}-${version}`;
  return join(root, 'node_modules/.cache/agent-hosting-service-packages', folder);
}

/**
 * Lets this thread load the bundles that scripts/install.mjs has made. Without its bundle a package is loaded as it is. Call
 * this before the first import of a package.
 */
export function useBundledPackages() {
  const root = fileURLToPath(new URL('..', import.meta.url));
  /** @type {Map<string, string>} */
  const urls = new Map();
  for (const [name, entries] of Object.entries(PACKAGES)) {
    const folder = bundleFolder(root, name);
    if (!existsSync(folder)) continue;
    for (const [file, specifier] of Object.entries(entries))
      urls.set(specifier, pathToFileURL(join(folder, `${file}.mjs`)).href);
  }
  if (urls.size === 0) return;
  module.registerHooks({
    resolve(specifier, context, nextResolve) {
      const url = urls.get(specifier);
      return url ? { url, shortCircuit: true } : nextResolve(specifier, context);
    },
  });
}
