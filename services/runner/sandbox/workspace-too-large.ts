import { Refusal } from '../../../lib/errors.ts';
import { shownBytes } from './shown-bytes.ts';
import type { WorkspaceSize } from './workspace-tree.ts';

/** SANDBOX_UNAVAILABLE: a workspace does not fit into its copy. The sandbox itself works. */
export class WorkspaceTooLarge extends Refusal {
  constructor(size: WorkspaceSize, limit: string) {
    super(
      'SANDBOX_UNAVAILABLE',
      `SANDBOX_UNAVAILABLE: The workspace has ${shownBytes(size.bytes)} in ${size.files} files, and ${limit}. ` +
        'Remove files, or ask an administrator to raise the limit.',
    );
  }
}
