/**
 * Generates docs/reference from the code.
 *
 *   node scripts/docs.ts           writes changed files
 *   node scripts/docs.ts --check   changes nothing and fails when a file is out of date
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { renderOpenApi } from '../edge/openapi/document.ts';
import { type Documents, drift, readTree, writeChanges } from './drift.ts';
import { renderAccess } from './reference/access.ts';
import { renderCallers } from './reference/callers.ts';
import { renderErrors } from './reference/errors.ts';
import { renderSettings } from './reference/settings.ts';
import { root } from './tool.ts';

interface Document {
  /** Relative to docs/reference. */
  path: string;
  render(): string | Promise<string>;
}

/** The origin of the service with default settings. */
const ORIGIN = 'http://127.0.0.1:8080';

const DOCUMENTS: Document[] = [
  { path: 'access.md', render: renderAccess },
  { path: 'callers.md', render: renderCallers },
  { path: 'errors.md', render: renderErrors },
  { path: 'settings.md', render: renderSettings },
  { path: 'openapi.json', render: () => `${JSON.stringify(renderOpenApi(ORIGIN), null, 2)}\n` },
];

const folder = join(root, 'docs', 'reference');
const { values: flags } = parseArgs({ options: { check: { type: 'boolean' } } });

const fresh: Documents = new Map();
for (const { path, render } of DOCUMENTS) fresh.set(path, await render());

const kept = await readTree(folder);
const findings = drift(kept, fresh);
for (const line of findings) console.log(`docs/reference ${line}`);
if (!flags.check) await writeChanges(folder, kept, fresh);
else if (findings.length > 0) process.exitCode = 1;
console.log(
  `${fresh.size} generated documents, ${findings.length} ${flags.check ? 'out of date' : 'updated'}`,
);
