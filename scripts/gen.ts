/**
 * Makes proto/gen from the contracts in proto/ahs, offline.
 *
 *   node scripts/gen.ts           write what differs, remove what no contract makes any more
 *   node scripts/gen.ts --check   change nothing, fail when something would
 *   node scripts/gen.ts --image   renew proto/image.binpb: from here on `buf breaking` compares with today's
 *                                 contracts; do it when they are released, never to silence a finding
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Documents, drift, readTree, settle } from './drift.ts';
import { must, root } from './tool.ts';

const generated = join(root, 'proto', 'gen');
const image = join('proto', 'image.binpb');

/** Generates beside the tree, so that a failure leaves the committed files as they were. */
async function generate(): Promise<Documents> {
  const folder = await mkdtemp(join(tmpdir(), 'contracts-'));
  try {
    await must(['buf', 'generate', '--output', folder]);
    return await readTree(join(folder, 'proto', 'gen'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const { values: flags } = parseArgs({ options: { check: { type: 'boolean' }, image: { type: 'boolean' } } });

if (flags.image) {
  await must(['buf', 'build', '--output', image]);
  console.log(`${image} now holds today's contracts`);
} else {
  const [kept, fresh] = await Promise.all([readTree(generated), generate()]);
  if (fresh.size === 0) throw new Error('the contracts generated no file');
  const findings = drift(kept, fresh);
  for (const line of findings) console.log(`proto/gen ${line}`);
  if (!flags.check) await settle(generated, kept, fresh);
  else if (findings.length > 0) process.exitCode = 1;
  console.log(`${fresh.size} generated files, ${findings.length} ${flags.check ? 'differ' : 'renewed'}`);
}
