import { mkdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Clock } from '../../../lib/clock.ts';
import { DirectoryProblem } from '../../../lib/directory.ts';
import type { Ids } from '../../../lib/ids.ts';
import type { Log } from '../../../lib/log.ts';
import type { Metrics } from '../../../lib/metrics.ts';
import { internetDialer } from '../../../lib/outbound/dialer.ts';
import { createEgressMetrics } from '../network/intercept/egress-metrics.ts';
import { openBubblewrap } from './bubblewrap/open.ts';
import type { SandboxProviders } from './choose-provider.ts';
import { SandboxRoot } from './sandbox-root.ts';
import { createSimulatedProvider } from './simulated/provider.ts';
import { SIMULATED_COPIES } from './simulated/sandbox.ts';
import { SkillDirectory } from './skill-directory.ts';
import { readDiskSpace } from './space/disk-reserve.ts';
import type { SpaceLimits } from './space/space-limits.ts';
import { SpaceMonitor } from './space/space-monitor.ts';

interface SandboxSettings {
  /** Holds the files of all sandboxes. Only this process may use it. It is created when it is missing. */
  directory: string;
  /** The first of the user ids for sandboxes, when this process is root. */
  firstUid: number;
  /** Directories of this machine that commands may read, in addition to its system directories. */
  readableDirectories: readonly string[];
  /** Paths that commands must not see, even below a readable directory. */
  hiddenPaths: readonly string[];
  /** Limits of workspace copies. */
  limits: SpaceLimits;
  /** Limit of all copies together; undefined for the free space at start. */
  totalMib: number | undefined;
  /** Limit of all copies of skills together. */
  skillCopiesMib: number;
}

const MIB = 1024 * 1024;

/** The directory of this program, which sandboxes must not see. */
const INSTALLATION = resolve(import.meta.dirname, '../../..');

/** Returns the providers that work on this machine, and the reasons why the others do not. Throws DirectoryProblem. */
export async function openProviders(
  { directory, totalMib, skillCopiesMib, ...settings }: SandboxSettings,
  { clock, ids, log, metrics }: { clock: Clock; ids: Ids; log: Log; metrics: Metrics },
): Promise<SandboxProviders> {
  requirePrivateDirectory(directory);
  const totalBytes = totalMib === undefined ? undefined : totalMib * MIB;
  const monitor = new SpaceMonitor({ readDisk: () => readDiskSpace(directory), clock, totalBytes });
  const skillDirectory = new SkillDirectory({
    path: join(directory, 'skills'),
    maxBytes: skillCopiesMib * MIB,
    readDisk: () => readDiskSpace(directory),
  });
  const describeSpace = () => monitor.describe();
  const bubblewrap = await openBubblewrap({
    ...settings,
    hiddenPaths: [INSTALLATION, directory, ...settings.hiddenPaths],
    directory: join(directory, 'bubblewrap'),
    skillDirectory: skillDirectory.path,
    clock,
    ids,
    log,
    dialer: internetDialer,
    egressMetrics: createEgressMetrics(metrics),
    monitor,
  });
  const simulated = createSimulatedProvider({
    root: new SandboxRoot({ path: join(directory, 'simulated'), clock, limits: settings.limits, monitor }),
    skillDirectory: skillDirectory.path,
    clock,
    isDefault: 'reason' in bubblewrap,
  });
  if ('reason' in bubblewrap)
    return {
      available: [simulated],
      unavailable: [{ name: 'bubblewrap', ...bubblewrap }],
      skillDirectory,
      copies: SIMULATED_COPIES,
      describeSpace,
    };
  const { provider, copies, close } = bubblewrap;
  return { available: [provider, simulated], unavailable: [], skillDirectory, copies, describeSpace, close };
}

/** A user who owns the directory, or can write it, could enter every sandbox. Throws DirectoryProblem. */
function requirePrivateDirectory(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const { uid, mode } = statSync(directory);
  const own = process.getuid?.();
  if (own === undefined || (uid === own && (mode & 0o022) === 0)) return;
  throw new DirectoryProblem(
    directory,
    'cannot hold sandboxes, because another user owns it or can write it',
    'a directory that this user owns and other users cannot write',
    'chown it to this user and chmod go-w it, or remove it',
  );
}
