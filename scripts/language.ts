/** Checks comments, messages, console copy and documentation against the word rules of docs/STYLE.md. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { proseOf } from './language/prose.ts';
import { type Violation, violationsOf } from './language/rules.ts';
import { root, run } from './tool.ts';

/** Files that no person writes, and files that must not change. */
const EXEMPT: readonly RegExp[] = [
  /^(proto|console)\/gen\//,
  /^docs\/reference\/openapi\.json$/,
  /^package-lock\.json$/,
  // Applied migrations are checksummed.
  /^services\/[^/]+\/migrations\//,
  // Define the rules and plant violations of them.
  /^scripts\/language\/rules\.ts$/,
  /^test\/rules\/language\.test\.ts$/,
  /^docs\/STYLE\.md$/,
];

const { output } = await run([
  'git',
  'ls-files',
  '--cached',
  '--others',
  '--exclude-standard',
  '--deduplicate',
]);
const paths = output.split('\n').filter((path) => path !== '' && !EXEMPT.some((exempt) => exempt.test(path)));

let read = 0;
let broken = 0;
for (const path of paths) {
  const text = await readFile(join(root, path), 'utf8').catch(() => undefined);
  if (text === undefined) continue;
  const prose = proseOf(path, text);
  if (prose.length > 0) read++;
  for (const { line, text } of prose)
    for (const violation of violationsOf(text)) report(path, line, violation);
}

function report(path: string, line: number, { rule, excerpt, line: offset }: Violation): void {
  broken++;
  console.log(`${path}:${line + offset}  ${rule.name}: … ${excerpt} …\n  ${rule.advice}`);
}

console.log(`${read} files with prose read, ${broken} violations`);
if (broken > 0 || read === 0) process.exitCode = 1;
