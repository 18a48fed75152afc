/** Checks the imports of all source files against the rules of .dependency-cruiser.mjs. */
import { inspect, isSound } from './imports.ts';
import { root } from './tool.ts';

const FOLDERS = ['lib', 'services', 'edge', 'console', 'scripts', 'proto/gen', 'test'];

const inspection = await inspect(root, FOLDERS);
const { read, unread, findings } = inspection;

for (const { rule, from, to, advice } of findings) console.log(`${rule}\n  ${from} → ${to}\n  ${advice}\n`);
for (const path of unread) console.log(`not read: ${path}`);
if (read === 0)
  console.log('No file was read, so nothing was checked: does dependency-cruiser support this TypeScript?');
console.log(`${read} files read, ${findings.length} imports break a rule`);

if (!isSound(inspection)) process.exitCode = 1;
