/** Builds the console into a folder, which then holds all that is served: `node scripts/console/build.mjs <folder> <digest>` */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { compress } from './compress.mjs';
import { STAMP } from './made.mjs';

const [folder, digest] = process.argv.slice(2);

await build({
  root: fileURLToPath(new URL('../../console', import.meta.url)),
  // What is built depends on nothing but its sources.
  envDir: false,
  build: { outDir: folder, emptyOutDir: true },
});
const { files, bytes, compressed } = await compress(folder);
console.log(`${files} texts of ${kib(bytes)} KiB, compressed ${kib(compressed)} KiB`);
// Last, as it says that all of it is there.
writeFileSync(join(folder, STAMP), digest);

function kib(count) {
  return Math.round(count / 1024);
}
