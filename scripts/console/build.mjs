/** Builds the console into a folder: `node scripts/console/build.mjs <folder> <digest of the sources>` */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { compress } from './compress.mjs';
import { STAMP } from './source-digest.mjs';

const [folder, digest] = process.argv.slice(2);

await build({
  root: fileURLToPath(new URL('../../console', import.meta.url)),
  // The build depends only on its sources.
  envDir: false,
  build: { outDir: folder, emptyOutDir: true },
});
const { files, bytes, compressed } = await compress(folder);
console.log(`${files} texts of ${kib(bytes)} KiB, compressed ${kib(compressed)} KiB`);
// Written last, because it marks the build as complete.
writeFileSync(join(folder, STAMP), digest);

function kib(count) {
  return Math.round(count / 1024);
}
