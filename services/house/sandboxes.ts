import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DirectoryProblem, type HeldDirectory, holdDirectory } from '../../lib/directory.ts';
import type { House } from '../../lib/modules.ts';
import type { ServiceContext } from '../../lib/service.ts';
import { openProviders } from '../runner/sandbox/open.ts';
import type { Providers } from '../runner/sandboxes/providers.ts';
import type { Plan } from './plan.ts';

const MOST_RUNNERS = 32;

/** The directory of the sandboxes cannot be used, and it is one of their own. */
export class SandboxesProblem extends Error {
  override readonly name = 'SandboxesProblem';
  override readonly cause: DirectoryProblem;

  constructor(cause: DirectoryProblem) {
    super(cause.message);
    this.cause = cause;
  }
}

/**
 * What the runner of this process can run commands in. Its directory is held: what is in it belongs to sandboxes that
 * another runner would remove as left behind. Throws SandboxesProblem, or DirectoryProblem of the data directory.
 */
export async function openSandboxes(
  { runner: { sandboxDirectory, sandboxFirstUid: firstUid, sandboxShownDirectories: shown } }: Plan,
  house: House,
  context: ServiceContext,
  dataDir: string | undefined,
): Promise<Providers> {
  const hidden = dataDir === undefined ? [] : [dataDir];
  const openIn = (directory: string) => openProviders({ directory, firstUid, shown, hidden }, context);
  // What lies in the data directory is held with it.
  if (sandboxDirectory === undefined && dataDir !== undefined) return openIn(join(dataDir, 'sandboxes'));
  try {
    const held = await (sandboxDirectory === undefined ? holdTemporary() : holdDirectory(sandboxDirectory));
    house.add({ name: 'sandboxes', stop: () => held.release() });
    return await openIn(held.path);
  } catch (error) {
    throw error instanceof DirectoryProblem ? new SandboxesProblem(error) : error;
  }
}

/** Several runners may be on one machine. */
async function holdTemporary(): Promise<HeldDirectory> {
  for (let number = 1; ; number++) {
    try {
      return await holdDirectory(join(tmpdir(), `ahs-${process.getuid?.() ?? 0}-${number}`));
    } catch (error) {
      if (!(error instanceof DirectoryProblem) || number === MOST_RUNNERS) throw error;
    }
  }
}
