import { Refusal } from '../../../lib/errors.ts';

/** A sandbox is not there any more, or can no longer be worked with. */
export class SandboxLost extends Error {
  /** A command may have done something in it that is lost with it. */
  readonly hasRun: boolean;

  constructor(hasRun: boolean, cause?: unknown) {
    super('The sandbox was lost.', { cause });
    this.hasRun = hasRun;
  }
}

const FULL = new Set(['ENOSPC', 'EDQUOT']);

/**
 * What a failure means that came up while a sandbox and its files were worked with. What the rest of the service
 * refuses stays what it is; anything else that goes wrong there is the end of the sandbox.
 */
export function failureIn(error: unknown, hasRun: boolean): unknown {
  if (error instanceof SandboxLost) return error;
  if (error instanceof Refusal && error.code !== 'SANDBOX_UNAVAILABLE') return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (FULL.has(code)) return new Error('There is no space left on the disk of the sandbox.');
  return new SandboxLost(hasRun, error);
}
