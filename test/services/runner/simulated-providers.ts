import { type Dirent, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../../lib/clock.ts';
import type { SandboxProviders } from '../../../services/runner/sandbox-providers/choose-provider.ts';
import { createSimulatedProvider } from '../../../services/runner/sandbox-providers/simulated/provider.ts';
import { openSandboxRoot } from './sandbox/space-fixture.ts';

/** Simulated providers whose sandboxes are in a temporary directory. */
export interface SimulatedProviders extends Disposable {
  /** Returns the paths of all files and directories of the sandboxes. */
  files(): string[];
  providers(clock: Clock): SandboxProviders;
}

export function openSimulatedProviders(
  limits: Parameters<typeof openSandboxRoot>[2] = {},
): SimulatedProviders {
  const directory = mkdtempSync(join(tmpdir(), 'ahs-test-sandboxes-'));
  return {
    files: () => filesBelow(directory),
    providers: (clock) => ({
      available: [createSimulatedProvider({ root: openSandboxRoot(directory, clock, limits), clock })],
      unavailable: [],
      copies: '',
    }),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** Skips directories that are removed during the search. */
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
