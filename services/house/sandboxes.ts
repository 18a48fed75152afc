import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DirectoryProblem, type HeldDirectory, holdDirectory } from '../../lib/directory.ts';
import type { House } from '../../lib/modules.ts';
import type { ServiceContext } from '../../lib/service.ts';
import { openProviders } from '../runner/sandbox/open.ts';
import type { Providers } from '../runner/sandboxes/providers.ts';
import type { Plan } from './plan.ts';

const MOST_RUNNERS = 32;

/**
 * What the runner of this process can run commands in. Its directory is held: what is in it belongs to sandboxes that
 * another runner would remove as left behind. Throws DirectoryProblem.
 */
export async function openSandboxes(
  { runner }: Plan,
  house: House,
  context: ServiceContext,
  dataDir: string | undefined,
): Promise<Providers> {
  const { sandboxDirectory, sandboxFirstUid, sandboxShownDirectories } = runner;
  let directory = sandboxDirectory ?? (dataDir && join(dataDir, 'sandboxes'));
  // What lies in the data directory is held with it.
  if (sandboxDirectory !== undefined || directory === undefined) {
    const held = await (directory === undefined ? holdTemporary() : holdDirectory(directory));
    house.add({ name: 'sandboxes', stop: () => held.release() });
    directory = held.path;
  }
  return openProviders(
    {
      directory,
      firstUid: sandboxFirstUid,
      shown: sandboxShownDirectories,
      hidden: dataDir === undefined ? [] : [dataDir],
    },
    context,
  );
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
