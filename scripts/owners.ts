/** Checks that CODEOWNERS names an owner for every folder, and no folder that does not exist. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ownerProblems } from './owners/coverage.ts';
import { root, run } from './tool.ts';

const { output } = await run([
  'git',
  'ls-files',
  '--cached',
  '--others',
  '--exclude-standard',
  '--deduplicate',
]);
const paths = output.split('\n').filter((path) => path !== '' && existsSync(join(root, path)));
const problems = ownerProblems(await readFile(join(root, 'CODEOWNERS'), 'utf8'), paths);

for (const problem of problems) console.log(problem);
console.log(`${paths.length} files read, ${problems.length} problems`);
if (problems.length > 0 || paths.length === 0) process.exitCode = 1;
