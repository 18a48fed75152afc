/**
 * Runs every check that a change must pass, cheapest first. Stops at the first failure.
 *
 *   node scripts/verify.ts            all of it
 *   node scripts/verify.ts --static   without running the tests
 */
import { parseArgs } from 'node:util';
import { run } from './tool.ts';

interface Check {
  name: string;
  command: string[];
  /** The remedy that is printed when the check fails. */
  remedy: string;
  /** Shows the output while the check runs. */
  show?: boolean;
}

const STATIC: Check[] = [
  {
    name: 'format and lint',
    command: ['biome', 'check', '--error-on-warnings', '.'],
    remedy: 'npm run format corrects format and import order; correct the other findings by hand',
  },
  {
    name: 'types',
    command: ['tsc', '--noEmit'],
    remedy: 'correct the types; npm run types repeats this check',
  },
  {
    name: 'types: console',
    command: ['tsc', '--noEmit', '-p', 'console'],
    remedy: 'correct the types; npm run types repeats this check',
  },
  {
    name: 'import rules',
    command: ['node', 'scripts/deps.ts'],
    remedy: 'move the code, or pass the dependency as a parameter; the rules are in .dependency-cruiser.mjs',
  },
  {
    name: 'language rules',
    command: ['node', 'scripts/language.ts'],
    remedy: 'rewrite the sentences as docs/STYLE.md says',
  },
  {
    name: 'commit subjects',
    command: ['node', 'scripts/commits.ts'],
    remedy: 'amend the subjects to "area: imperative summary", at most 72 characters',
  },
  {
    name: 'code owners',
    command: ['node', 'scripts/owners.ts'],
    remedy: 'add the folders to CODEOWNERS, or remove the entries without files',
  },
  {
    name: 'contracts: style',
    command: ['buf', 'lint'],
    remedy: 'change the .proto files as the messages say',
  },
  {
    name: 'contracts: compatibility',
    command: ['buf', 'breaking', '--against', 'proto/image.binpb'],
    remedy:
      'add fields instead of changing them, and reserve removed fields: both sides may run different releases',
  },
  {
    name: 'contracts: generated code',
    command: ['node', 'scripts/gen.ts', '--check'],
    remedy: 'npm run gen',
  },
  { name: 'generated documents', command: ['node', 'scripts/docs.ts', '--check'], remedy: 'npm run docs' },
  {
    name: 'generated client of the console',
    command: ['node', 'scripts/client.ts', '--check'],
    remedy: 'npm run client',
  },
];

const TESTS: Check = {
  name: 'tests',
  command: ['vitest', 'run'],
  remedy: 'npx vitest run <file>',
  show: true,
};

const { values: flags } = parseArgs({ options: { static: { type: 'boolean' } } });
const checks = flags.static ? STATIC : [...STATIC, TESTS];
const width = Math.max(...checks.map((check) => check.name.length));
const start = performance.now();

for (const { name, command, remedy, show = false } of checks) {
  const begin = performance.now();
  const { ok, output } = await run(command, show);
  console.log(`${ok ? 'ok    ' : 'FAILED'}  ${name.padEnd(width)}  ${seconds(begin)} s`);
  if (ok) continue;
  console.log(`\n${output}`);
  console.log(`${name} failed. Remedy: ${remedy}.`);
  process.exitCode = 1;
  break;
}

if (!process.exitCode) console.log(`\nAll ${checks.length} checks passed in ${seconds(start)} s.`);

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(1).padStart(5);
}
