import { listSandboxes, terminateSandbox } from '../gen/index.ts';
import { unwrapData, unwrapPage } from './client.ts';
import { pagedQuery } from './pages.ts';

/** Queries and mutations of sandboxes, for administrators. Query keys begin with `sandboxes`. */
export const sandboxes = {
  /** Existing sandboxes by default; with `status`, ended ones or all. */
  list: (status?: 'ended' | 'all') =>
    pagedQuery(['sandboxes', 'list', status], (cursor, signal) =>
      unwrapPage(listSandboxes({ query: { status, cursor }, signal })),
    ),
  terminate: (sandboxId: string) => unwrapData(terminateSandbox({ path: { sandbox_id: sandboxId } })),
};
