import { type Dirent, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../../lib/clock.ts';
import { Ground } from '../../../services/runner/sandbox/place.ts';
import { simulatedProvider } from '../../../services/runner/sandbox/simulated/provider.ts';
import type { Providers } from '../../../services/runner/sandboxes/providers.ts';

/** Where sandboxes of a test are, and the providers that make them. */
export interface Lodgings extends Disposable {
  /** Paths of all that they have on the disk. */
  files(): string[];
  providers(clock: Clock): Providers;
}

export function openLodgings(): Lodgings {
  const directory = mkdtempSync(join(tmpdir(), 'ahs-test-sandboxes-'));
  return {
    files: () => filesBelow(directory),
    providers: (clock) => ({
      has: [simulatedProvider({ ground: new Ground(directory), clock })],
      lacks: [],
    }),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** As far as it does not vanish meanwhile. */
function filesBelow(directory: string): string[] {
  let entries: Dirent[] = [];
  try {
    entries = readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
  return entries.flatMap((entry) => {
    const path = join(directory, entry.name);
    return entry.isDirectory() ? [path, ...filesBelow(path)] : [path];
  });
}
