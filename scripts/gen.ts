/**
 * Generates proto/gen from the contracts in proto/ahs, proto/google, proto/grpc and proto/kubernetes. Works offline.
 *
 *   node scripts/gen.ts           writes changed files and removes obsolete ones
 *   node scripts/gen.ts --check   changes nothing and fails when a file is out of date
 *   node scripts/gen.ts --image   updates proto/image.binpb, with which `buf breaking` compares the contracts. Do this
 *                                 when they are released, never to silence a finding.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { renderDescriptors } from './descriptors.ts';
import { type Documents, drift, readTree, writeChanges } from './drift.ts';
import { must, root } from './tool.ts';

const generated = join(root, 'proto', 'gen');
const image = join('proto', 'image.binpb');

/** Generates into a temporary folder, so that a failure leaves the committed files unchanged. */
async function generate(): Promise<Documents> {
  const folder = await mkdtemp(join(tmpdir(), 'contracts-'));
  try {
    await must(['buf', 'generate', '--output', folder]);
    const documents = await readTree(join(folder, 'proto', 'gen'));
    return documents.size === 0 ? documents : documents.set('descriptors.json', await renderDescriptors());
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const { values: flags } = parseArgs({ options: { check: { type: 'boolean' }, image: { type: 'boolean' } } });

if (flags.image) {
  await must(['buf', 'build', '--output', image]);
  console.log(`${image} now contains the current contracts`);
} else {
  const [kept, fresh] = await Promise.all([readTree(generated), generate()]);
  if (fresh.size === 0) throw new Error('no file was generated from the contracts');
  const findings = drift(kept, fresh);
  for (const line of findings) console.log(`proto/gen ${line}`);
  if (!flags.check) await writeChanges(generated, kept, fresh);
  else if (findings.length > 0) process.exitCode = 1;
  console.log(`${fresh.size} generated files, ${findings.length} ${flags.check ? 'out of date' : 'updated'}`);
}
