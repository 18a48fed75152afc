import { Refusal } from '../../../lib/errors.ts';
import { isSandboxError } from '../sandbox/sandbox-error.ts';
import { WorkspaceTooLarge } from '../sandbox/workspace-too-large.ts';
import { ToolError } from '../tool-calls/tool-error.ts';

/** A sandbox no longer exists or cannot be used any more. */
export class SandboxLostError extends Error {
  /** Whether a command has run in the sandbox, whose changes are lost with it. */
  readonly hasRun: boolean;
  /** The limit of the workspace copy that the command had reached, as a clause. */
  readonly reachedLimit: string | undefined;

  constructor(
    hasRun: boolean,
    { cause, reachedLimit }: { cause?: unknown; reachedLimit?: string | undefined } = {},
  ) {
    super('The sandbox was lost.', { cause });
    this.hasRun = hasRun;
    this.reachedLimit = reachedLimit;
  }
}

const DISK_FULL_CODES = new Set(['ENOSPC', 'EDQUOT']);

/**
 * Classifies an exception that occurred while a sandbox or its files were used. Errors of the operating system and
 * SANDBOX_UNAVAILABLE mean that the sandbox is lost, except that a full disk and a workspace that is too large are
 * failures of the tool call. All other exceptions are returned unchanged: refusals of other services, expected tool failures and defects of this program.
 */
export function sandboxFailure(error: unknown, hasRun: boolean): unknown {
  if (error instanceof WorkspaceTooLarge) return error;
  if (error instanceof Refusal)
    return error.code === 'SANDBOX_UNAVAILABLE' ? new SandboxLostError(hasRun, { cause: error }) : error;
  if (!isSandboxError(error)) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (DISK_FULL_CODES.has(code)) return new ToolError('There is no space left on the disk of the sandbox.');
  return new SandboxLostError(hasRun, { cause: error });
}
