import { listSandboxes, terminateSandbox } from '../gen/index.ts';
import { ask, askPage } from './client.ts';
import { pagesOf } from './pages.ts';

/** What administrators can see of sandboxes, and do about them. Keys begin with `sandboxes`. */
export const sandboxes = {
  /** Those that are there; or those that have ended, or all. */
  list: (status?: 'ended' | 'all') =>
    pagesOf(['sandboxes', 'list', status], (cursor, signal) =>
      askPage(listSandboxes({ query: { status, cursor }, signal })),
    ),
  terminate: (sandboxId: string) => ask(terminateSandbox({ path: { sandbox_id: sandboxId } })),
};
