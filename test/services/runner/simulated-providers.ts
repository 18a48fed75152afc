import { type Dirent, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../../lib/clock.ts';
import type { SandboxProviders } from '../../../services/runner/sandbox-providers/choose-provider.ts';
import { createSimulatedProvider } from '../../../services/runner/sandbox-providers/simulated/provider.ts';
import { ShellThreadPool } from '../../../services/runner/sandbox-providers/simulated/thread-pool.ts';
import { openSandboxRoot, openSkillDirectory } from './sandbox/space-fixture.ts';

/** Starting a thread takes longer than most commands, so all tests of a process share them. */
const threads = new ShellThreadPool();

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
  const skillDirectory = openSkillDirectory(join(directory, 'skills'));
  return {
    files: () => filesBelow(directory),
    providers: (clock) => ({
      available: [
        createSimulatedProvider({
          root: openSandboxRoot(join(directory, 'sandboxes'), clock, limits),
          skillDirectory: skillDirectory.path,
          clock,
          threads,
        }),
      ],
      unavailable: [],
      skillDirectory,
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
