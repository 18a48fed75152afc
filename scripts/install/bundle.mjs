/** Makes the bundles that lib/bundled-packages.js describes, with the build tool of the console. */
import { renameSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import {
  BUNDLED_IMPORTS,
  bundleFile,
  bundleFolder,
  UNBUNDLED_PACKAGES,
  UNUSED_PACKAGES,
} from '../../lib/bundled-packages.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ENTRY = 'entry:';
const UNUSED = 'unused:';
/** The export of a CommonJS module that `require` returns, also in an ES module. */
const WHOLE = 'module.exports';

/** An ES module with the same exports as the package: those that Node finds in a CommonJS module are copied. */
async function entryOf(specifier) {
  const names = Object.keys(await import(specifier));
  if (!names.includes(WHOLE)) {
    const lines = [`export * from '${specifier}';`];
    if (names.includes('default')) lines.push(`export { default } from '${specifier}';`);
    return lines.join('\n');
  }
  const copied = names.filter((name) => name !== WHOLE && name !== 'default');
  return [
    `import whole from '${specifier}';`,
    ...copied.map((name, index) => `const copy${index} = whole[${JSON.stringify(name)}];`),
    `export { whole as default, whole as '${WHOLE}' };`,
    `export { ${copied.map((name, index) => `copy${index} as ${name}`).join(', ')} };`,
  ].join('\n');
}

const entries = {
  name: 'entries',
  resolveId: (id) => (id.startsWith(ENTRY) ? id : null),
  load: (id) => (id.startsWith(ENTRY) ? entryOf(id.slice(ENTRY.length)) : null),
};

const unused = {
  name: 'unused',
  enforce: 'pre',
  resolveId: (id) => (UNUSED_PACKAGES.has(id) ? UNUSED + id : null),
  load(id) {
    if (!id.startsWith(UNUSED)) return null;
    const name = id.slice(UNUSED.length);
    const message = JSON.stringify(`The bundles do not contain ${name}.`);
    return UNUSED_PACKAGES.get(name)
      .map((imported) => `export const ${imported} = () => { throw new Error(${message}); };`)
      .join('\n');
  },
};

const folder = bundleFolder(ROOT);
// Only complete bundles have the final name.
const draft = `${folder}.${process.pid}`;
try {
  await build({
    root: ROOT,
    configFile: false,
    logLevel: 'error',
    publicDir: false,
    plugins: [entries, unused],
    build: {
      ssr: true,
      outDir: draft,
      emptyOutDir: true,
      minify: false,
      rolldownOptions: {
        // A bundle must not export more than its package, also when another bundle uses its inner modules.
        preserveEntrySignatures: 'strict',
        input: Object.fromEntries(
          BUNDLED_IMPORTS.map((specifier) => [bundleFile(specifier), `${ENTRY}${specifier}`]),
        ),
        output: { entryFileNames: '[name]', chunkFileNames: '[name].mjs' },
      },
    },
    // As Node resolves them.
    resolve: { mainFields: ['main'] },
    ssr: { noExternal: true, external: UNBUNDLED_PACKAGES, resolve: { conditions: ['node'] } },
  });
  renameSync(draft, folder);
} finally {
  rmSync(draft, { recursive: true, force: true });
}
