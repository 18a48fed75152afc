import type { Database } from '../../../lib/db/database.ts';
import { checkFence, type Lease } from './workspaces.ts';

export type Fences = ReturnType<typeof createFences>;

export function createFences(db: Database) {
  return {
    /** From here on, whoever holds an older lease of the session changes nothing. Refused with LEASE_LOST. */
    raise: (workspaceId: string, lease: Lease) => checkFence(db, workspaceId, lease),
  };
}
