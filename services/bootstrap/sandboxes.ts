import { statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DirectoryProblem, type LockedDirectory, lockDirectory } from '../../lib/directory.ts';
import type { ModuleManager } from '../../lib/modules.ts';
import type { ServiceContext } from '../../lib/service.ts';
import type { SandboxProviders } from '../runner/sandbox-providers/choose-provider.ts';
import { openProviders } from '../runner/sandbox-providers/open-providers.ts';
import type { ProcessConfig } from './process-config.ts';
import { SandboxesProblem } from './sandboxes-problem.ts';

const MAX_RUNNERS = 32;

/**
 * Opens the sandbox providers of the runner in this process. Locks their directory, because another runner would remove
 * its sandboxes as leftovers. Throws SandboxesProblem, or DirectoryProblem for the data directory.
 */
export async function openSandboxes(
  config: ProcessConfig,
  modules: ModuleManager,
  context: ServiceContext,
  dataDir: string | undefined,
): Promise<SandboxProviders> {
  const { sandboxDirectory } = config.runner;
  // A directory inside the data directory is locked with the data directory.
  if (sandboxDirectory === undefined && dataDir !== undefined)
    return openIn(join(dataDir, 'sandboxes'), config, modules, context, dataDir);
  try {
    const locked = await (sandboxDirectory === undefined
      ? lockTemporaryDirectory()
      : lockDirectory(sandboxDirectory));
    modules.add({ name: 'sandbox directory', stop: () => locked.release() });
    return await openIn(locked.path, config, modules, context, dataDir);
  } catch (error) {
    throw error instanceof DirectoryProblem ? new SandboxesProblem(error) : error;
  }
}

async function openIn(
  directory: string,
  config: ProcessConfig,
  modules: ModuleManager,
  context: ServiceContext,
  dataDir: string | undefined,
): Promise<SandboxProviders> {
  const { runner } = config;
  const settings = {
    directory,
    firstUid: runner.sandboxFirstUid,
    readableDirectories: runner.sandboxShownDirectories,
    hiddenPaths: dataDir === undefined ? [] : [dataDir],
    totalMib: runner.sandboxDiskMib,
    skillCopiesMib: runner.skillCopiesMib,
    limits: {
      workspaceBytes: runner.workspaceMaxBytes,
      workspaceFiles: runner.workspaceMaxFiles,
      fileBytes: runner.fileMaxBytes,
    },
  };
  const providers = await openProviders(settings, context);
  modules.add({ name: 'sandboxes', stop: async () => providers.close?.() });
  const others = storesOn(directory, config, dataDir);
  if (others === undefined) return providers;
  context.log.warn(
    { directory },
    `sandboxes share a file system with ${others}; commands can use its space up to the reserve. To separate them, set ` +
      'SERVICE_SANDBOX_DIRECTORY to a directory on another file system',
  );
  return { ...providers, copies: `${providers.copies}; on the file system of ${others}` };
}

/** Returns the stores of this process on the same file system as a directory, in words. */
function storesOn(
  directory: string,
  { common, files }: ProcessConfig,
  dataDir: string | undefined,
): string | undefined {
  const stores = [
    ...(common.databaseUrl === undefined ? ['the database'] : []),
    ...(files.s3Endpoint === undefined ? ['the stored files'] : []),
  ];
  if (dataDir === undefined || stores.length === 0) return undefined;
  return statSync(directory).dev === statSync(dataDir).dev ? stores.join(' and ') : undefined;
}

/** Locks a temporary directory. Several runners can share a machine, so each takes the first free number. */
async function lockTemporaryDirectory(): Promise<LockedDirectory> {
  for (let number = 1; ; number++) {
    try {
      return await lockDirectory(join(tmpdir(), `ahs-${process.getuid?.() ?? 0}-${number}`));
    } catch (error) {
      if (!(error instanceof DirectoryProblem) || number === MAX_RUNNERS) throw error;
    }
  }
}
