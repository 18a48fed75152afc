/**
 * Everything that has to hold before a change is handed in, cheapest first; stops at the first failure.
 *
 *   node scripts/verify.ts            all of it
 *   node scripts/verify.ts --static   without running the tests
 */
import { parseArgs } from 'node:util';
import { run } from './tool.ts';

interface Check {
  name: string;
  command: string[];
  /** What to do when it fails. */
  mend: string;
  /** Its output is shown while it runs, because it is long. */
  show?: boolean;
}

const STATIC: Check[] = [
  {
    name: 'format and lint',
    command: ['biome', 'check', '--error-on-warnings', '.'],
    mend: 'npm run format mends format and order of imports; the rest is yours',
  },
  {
    name: 'types',
    command: ['tsc', '--noEmit'],
    mend: 'correct the types; npm run types repeats this check',
  },
  {
    name: 'types: console',
    command: ['tsc', '--noEmit', '-p', 'console'],
    mend: 'correct the types; npm run types repeats this check',
  },
  {
    name: 'import rules',
    command: ['node', 'scripts/deps.ts'],
    mend: 'move the code, or take what you need as a parameter; the rules are in .dependency-cruiser.mjs',
  },
  {
    name: 'contracts: style',
    command: ['buf', 'lint'],
    mend: 'change the .proto files as the messages say',
  },
  {
    name: 'contracts: compatibility',
    command: ['buf', 'breaking', '--against', 'proto/image.binpb'],
    mend: 'add instead of changing, and reserve what you remove: both sides may run different releases',
  },
  { name: 'contracts: generated code', command: ['node', 'scripts/gen.ts', '--check'], mend: 'npm run gen' },
  { name: 'generated documents', command: ['node', 'scripts/docs.ts', '--check'], mend: 'npm run docs' },
  {
    name: 'generated client of the console',
    command: ['node', 'scripts/client.ts', '--check'],
    mend: 'npm run client',
  },
];

const TESTS: Check = { name: 'tests', command: ['vitest', 'run'], mend: 'npx vitest run <file>', show: true };

const { values: flags } = parseArgs({ options: { static: { type: 'boolean' } } });
const checks = flags.static ? STATIC : [...STATIC, TESTS];
const width = Math.max(...checks.map((check) => check.name.length));
const start = performance.now();

for (const { name, command, mend, show = false } of checks) {
  const begin = performance.now();
  const { ok, output } = await run(command, show);
  console.log(`${ok ? 'ok    ' : 'FAILED'}  ${name.padEnd(width)}  ${seconds(begin)} s`);
  if (ok) continue;
  console.log(`\n${output}`);
  console.log(`${name} failed. To mend it: ${mend}.`);
  process.exitCode = 1;
  break;
}

if (!process.exitCode) console.log(`\nAll ${checks.length} checks passed in ${seconds(start)} s.`);

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(1).padStart(5);
}
