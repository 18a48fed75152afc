import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';

interface Manifest {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
}

interface LockedPackage {
  integrity?: string;
  resolved?: string;
  optional?: boolean;
  os?: string[];
  libc?: string[];
}

interface Lockfile {
  packages: Record<string, LockedPackage>;
}

/** npm leaves it out of an installation on Linux with glibc, where the product runs. */
function isForeign({ optional = false, os = ['linux'], libc = ['glibc'] }: LockedPackage): boolean {
  return optional && !(os.includes('linux') && libc.includes('glibc'));
}

async function read<T>(name: string): Promise<T> {
  return JSON.parse(await readFile(new URL(`../../${name}`, import.meta.url), 'utf8'));
}

const EXACT = /^\d+\.\d+\.\d+(-[0-9a-z.-]+)?$/;

describe('package.json', () => {
  it('names one exact version of every package', async () => {
    const { dependencies, devDependencies, optionalDependencies } = await read<Manifest>('package.json');
    const all = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies });
    expect(all.length).toBeGreaterThan(0);
    expect(all.filter(([, version]) => !EXACT.test(version))).toEqual([]);
  });

  it('is what package-lock.json was made from', async () => {
    const manifest = await read<Manifest>('package.json');
    const { packages } = await read<Lockfile>('package-lock.json');
    expect(packages['']).toMatchObject({
      dependencies: manifest.dependencies,
      devDependencies: manifest.devDependencies,
      optionalDependencies: manifest.optionalDependencies,
    });
  });
});

describe('package-lock.json', () => {
  it('holds a checksum of every package that is installed on Linux', async () => {
    const { packages } = await read<Lockfile>('package-lock.json');
    const unchecked = Object.entries(packages).filter(([, entry]) => !entry.integrity && !isForeign(entry));
    // The project itself is the one entry that nobody fetches.
    expect(unchecked.map(([path]) => path)).toEqual(['']);
  });

  it('names no registry, so that any mirror serves', async () => {
    const { packages } = await read<Lockfile>('package-lock.json');
    const bound = Object.entries(packages).filter(([, entry]) => entry.resolved !== undefined);
    expect(bound.map(([path]) => path)).toEqual([]);
  });
});
