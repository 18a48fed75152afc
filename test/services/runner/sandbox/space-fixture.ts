import { tmpdir } from 'node:os';
import type { Clock } from '../../../../lib/clock.ts';
import { SandboxRoot } from '../../../../services/runner/sandbox-providers/sandbox-root.ts';
import { SkillDirectory } from '../../../../services/runner/sandbox-providers/skill-directory.ts';
import { readDiskSpace } from '../../../../services/runner/sandbox-providers/space/disk-reserve.ts';
import type { SpaceLimits } from '../../../../services/runner/sandbox-providers/space/space-limits.ts';
import { SpaceMonitor } from '../../../../services/runner/sandbox-providers/space/space-monitor.ts';

const GIB = 1024 ** 3;

/** The limits of workspace copies by default. */
export const DEFAULT_LIMITS: SpaceLimits = {
  workspaceBytes: 10 * GIB,
  workspaceFiles: 200_000,
  fileBytes: 5 * GIB,
};

/** Returns a directory for copies of skills. */
export function openSkillDirectory(path: string, maxBytes = GIB): SkillDirectory {
  return new SkillDirectory({ path, maxBytes, readDisk: () => readDiskSpace(tmpdir()) });
}

/** Returns a directory for sandboxes whose copies are plain directories. */
export function openSandboxRoot(
  path: string,
  clock: Clock,
  { totalBytes, ...limits }: Partial<SpaceLimits> & { totalBytes?: number } = {},
): SandboxRoot {
  const monitor = new SpaceMonitor({ readDisk: () => readDiskSpace(tmpdir()), clock, totalBytes });
  return new SandboxRoot({ path, clock, limits: { ...DEFAULT_LIMITS, ...limits }, monitor });
}
