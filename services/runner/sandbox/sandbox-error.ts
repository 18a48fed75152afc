import { OperatingSystemError } from '../kernel/operating-system-error.ts';

/**
 * A process, directory or namespace of a sandbox failed for a reason outside this program, for example because it was
 * killed or the kernel refused it. Other exceptions, such as a TypeError, are defects of this program.
 */
export class SandboxError extends Error {}

/** Codes of system errors, such as ENOENT; codes of Node's own errors begin with ERR_. */
const SYSTEM_ERROR_CODE = /^E[A-Z0-9]+$/;

/** Whether an exception is a failure of a sandbox: a SandboxError, or an error of the operating system. */
export function isSandboxError(error: unknown): boolean {
  if (error instanceof SandboxError || error instanceof OperatingSystemError) return true;
  return error instanceof Error && 'code' in error && SYSTEM_ERROR_CODE.test(String(error.code));
}
