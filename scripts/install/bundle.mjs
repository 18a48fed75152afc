/** Makes the bundles that lib/bundled-packages.js describes, with the build tool of the console. */
import { existsSync, renameSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { bundleFolder, PACKAGES } from '../../lib/bundled-packages.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The names that the program imports from CommonJS packages. An ES module must declare them. */
const NAMES = { '@redis/client': ['RedisClient'] };
const ENTRY = 'entry:';

/** Modules that export what the program imports. */
const entries = {
  name: 'entries',
  resolveId: (id) => (id.startsWith(ENTRY) ? id : null),
  load(id) {
    if (!id.startsWith(ENTRY)) return null;
    const specifier = id.slice(ENTRY.length);
    const names = NAMES[specifier];
    return `export ${names ? `{ ${names.join(', ')} }` : '*'} from '${specifier}';`;
  },
};

for (const [name, files] of Object.entries(PACKAGES)) {
  const folder = bundleFolder(ROOT, name);
  if (existsSync(folder)) continue;
  // Only complete bundles have the final name.
  const draft = `${folder}.${process.pid}`;
  try {
    await build({
      root: ROOT,
      configFile: false,
      logLevel: 'error',
      publicDir: false,
      plugins: [entries],
      build: {
        ssr: true,
        outDir: draft,
        emptyOutDir: true,
        minify: false,
        rolldownOptions: {
          input: Object.fromEntries(Object.entries(files).map(([file, id]) => [file, `${ENTRY}${id}`])),
          output: { entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' },
        },
      },
      // Other packages are not bundled: the process must have them once.
      ssr: { noExternal: [name] },
    });
    renameSync(draft, folder);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
