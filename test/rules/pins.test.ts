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

/** Whether npm omits the package on Linux with glibc. */
function isForeign({ optional = false, os = ['linux'], libc = ['glibc'] }: LockedPackage): boolean {
  return optional && !(os.includes('linux') && libc.includes('glibc'));
}

async function read<T>(name: string): Promise<T> {
  return JSON.parse(await readFile(new URL(`../../${name}`, import.meta.url), 'utf8'));
}

/** A version, or another name for a version of a package. */
const EXACT = /^(npm:[@\w./-]+@)?\d+\.\d+\.\d+(-[0-9a-z.-]+)?$/;

describe('package.json', () => {
  it('pins one exact version of every package', async () => {
    const { dependencies, devDependencies, optionalDependencies } = await read<Manifest>('package.json');
    const all = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies });
    expect(all.length).toBeGreaterThan(0);
    expect(all.filter(([, version]) => !EXACT.test(version))).toEqual([]);
  });

  it('agrees with package-lock.json', async () => {
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
  it('contains a checksum of every package that is installed on Linux', async () => {
    const { packages } = await read<Lockfile>('package-lock.json');
    const unchecked = Object.entries(packages).filter(([, entry]) => !entry.integrity && !isForeign(entry));
    // The project itself is the only entry that is not downloaded.
    expect(unchecked.map(([path]) => path)).toEqual(['']);
  });

  it('names no registry, so that any mirror can be used', async () => {
    const { packages } = await read<Lockfile>('package-lock.json');
    const bound = Object.entries(packages).filter(([, entry]) => entry.resolved !== undefined);
    expect(bound.map(([path]) => path)).toEqual([]);
  });
});
