import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { OPTIONAL_PROVIDERS } from '../../lib/model-providers.ts';

describe('OPTIONAL_PROVIDERS', () => {
  it('has the versions of package.json, where the packages are optional', async () => {
    const manifest = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
    const versions = Object.values(OPTIONAL_PROVIDERS).map((one) => [one.package, one.version]);
    expect(manifest.peerDependencies).toEqual(Object.fromEntries(versions));
    for (const [name] of versions) {
      expect(manifest.peerDependenciesMeta[name ?? '']).toEqual({ optional: true });
      expect(manifest.devDependencies[name ?? '']).toBe(manifest.peerDependencies[name ?? '']);
    }
  });
});
