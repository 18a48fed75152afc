/**
 * Makes docs/reference from the code.
 *
 *   node scripts/docs.ts           write what differs
 *   node scripts/docs.ts --check   change nothing, fail when something would
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Documents, drift, readTree, settle } from './drift.ts';
import { renderErrors } from './reference/errors.ts';
import { renderSettings } from './reference/settings.ts';
import { root } from './tool.ts';

interface Document {
  /** Below docs/reference. */
  path: string;
  render(): string | Promise<string>;
}

const DOCUMENTS: Document[] = [
  { path: 'errors.md', render: renderErrors },
  { path: 'settings.md', render: renderSettings },
];

const folder = join(root, 'docs', 'reference');
const { values: flags } = parseArgs({ options: { check: { type: 'boolean' } } });

const fresh: Documents = new Map();
for (const { path, render } of DOCUMENTS) fresh.set(path, await render());

const kept = await readTree(folder);
const findings = drift(kept, fresh);
for (const line of findings) console.log(`docs/reference ${line}`);
if (!flags.check) await settle(folder, kept, fresh);
else if (findings.length > 0) process.exitCode = 1;
console.log(`${fresh.size} generated documents, ${findings.length} ${flags.check ? 'differ' : 'renewed'}`);
