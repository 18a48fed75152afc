import type { EffectiveLimits } from '../../sandbox/sandbox.ts';

const MIB = 1024 * 1024;

/** The space that a workspace copy uses, or may use, on a disk. */
export interface CopySpace {
  bytes: number;
  /** Files, directories and links. */
  entries: number;
}

/** The limits of a runner for workspace copies. */
export interface SpaceLimits {
  /** For environments without a limit of their own. */
  workspaceBytes: number;
  /** Applies separately to directories. */
  workspaceFiles: number;
  fileBytes: number;
}

/** Returns the limit of a copy. A copy cannot be larger than `totalBytes`, the limit of all copies together. */
export function copyLimit(
  workspaceMib: number | undefined,
  limits: SpaceLimits,
  totalBytes: number,
): CopySpace {
  const bytes = workspaceMib === undefined ? limits.workspaceBytes : workspaceMib * MIB;
  // A file system counts files and directories together.
  return { bytes: Math.min(bytes, totalBytes), entries: 2 * limits.workspaceFiles };
}

/** Returns the limits of copies as a sandbox reports them. */
export function copyLimits(
  limit: CopySpace,
  method: string,
): Pick<EffectiveLimits, 'workspaceMib' | 'workspaceFiles'> {
  const how = { enforcement: 'workspace' as const, method };
  return {
    workspaceMib: { value: Math.floor(limit.bytes / MIB), ...how },
    workspaceFiles: { value: limit.entries / 2, ...how },
  };
}
