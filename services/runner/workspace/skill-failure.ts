import { Refusal } from '../../../lib/errors.ts';
import { isSandboxError } from '../sandbox/sandbox-error.ts';
import { shownBytes } from '../sandbox/shown-bytes.ts';
import type { WorkspaceSize } from '../sandbox/workspace-tree.ts';
import { ToolError } from '../tool-calls/tool-error.ts';

const NOT_RUN = 'No command was run.';
const DISK_FULL_CODES = ['ENOSPC', 'EDQUOT'];

/** A skill does not fit into the space for copies. `left` states the space that is left. */
export function skillTooLarge(name: string, { bytes, files }: WorkspaceSize, left: string): ToolError {
  return new ToolError(
    `STORAGE_FULL: The skill "${name}" has ${shownBytes(bytes)} in ${files} files, and the runner has ${left} for copies ` +
      `of skills. ${NOT_RUN} Try again later, or ask an administrator to raise the limit.`,
  );
}

/**
 * Describes for the model why the files of a skill could not be copied. Refusals of other services, except that the skill
 * was deleted, and defects of this program are returned unchanged.
 */
export function skillFailure(error: unknown, name: string): unknown {
  if (error instanceof Refusal) {
    const isDeleted = error.code === 'SKILL_NOT_FOUND' || error.code === 'SKILL_VERSION_NOT_FOUND';
    return isDeleted ? new ToolError(`${error.code}: The skill "${name}" was deleted. ${NOT_RUN}`) : error;
  }
  if (!isSandboxError(error)) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (DISK_FULL_CODES.includes(code))
    return new ToolError(
      `STORAGE_FULL: The files of the skill "${name}" could not be copied, because the disk of the runner is full. ${NOT_RUN}`,
    );
  return new ToolError(
    `SANDBOX_UNAVAILABLE: The files of the skill "${name}" could not be copied. ${NOT_RUN}`,
    { cause: error },
  );
}
