import type { DirectoryProblem } from '../../lib/directory.ts';

/** The separate directory of the sandboxes cannot be used. */
export class SandboxesProblem extends Error {
  override readonly name = 'SandboxesProblem';
  override readonly cause: DirectoryProblem;

  constructor(cause: DirectoryProblem) {
    super(cause.message);
    this.cause = cause;
  }
}
