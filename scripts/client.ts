/**
 * Generates console/gen, the API client of the console, from docs/reference/openapi.json. Works offline.
 *
 *   node scripts/client.ts           writes changed files and removes obsolete ones
 *   node scripts/client.ts --check   changes nothing and fails when a file is out of date
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createClient } from '@hey-api/openapi-ts';
import { type Documents, drift, readTree, writeChanges } from './drift.ts';
import { root } from './tool.ts';

const generated = join(root, 'console', 'gen');

async function generate(): Promise<Documents> {
  const folder = await mkdtemp(join(tmpdir(), 'client-'));
  try {
    await createClient({
      input: join(root, 'docs', 'reference', 'openapi.json'),
      output: { path: folder, tsConfigPath: join(root, 'tsconfig.json') },
      plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
      logs: { level: 'silent' },
    });
    return await readTree(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const { values: flags } = parseArgs({ options: { check: { type: 'boolean' } } });
const [kept, fresh] = await Promise.all([readTree(generated), generate()]);
if (fresh.size === 0) throw new Error('no file was generated from the API description');
const findings = drift(kept, fresh);
for (const line of findings) console.log(`console/gen ${line}`);
if (!flags.check) await writeChanges(generated, kept, fresh);
else if (findings.length > 0) process.exitCode = 1;
console.log(`${fresh.size} generated files, ${findings.length} ${flags.check ? 'out of date' : 'updated'}`);
