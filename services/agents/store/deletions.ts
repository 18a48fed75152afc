import { type Database, statement } from '../../../lib/db/database.ts';

const PENDING = statement(
  'agents.workspaces_to_delete',
  `select agent_id as "assistantId" from agents where workspace_to_delete and agent_id > $1
   order by agent_id limit $2`,
);

const MARK_DELETED = statement(
  'agents.workspace_deleted',
  'update agents set workspace_to_delete = false where agent_id = $1',
);

export type DeletionStore = ReturnType<typeof createDeletionStore>;

/** Deleted assistants with workspaces that may not be deleted yet. */
export function createDeletionStore(db: Database) {
  return {
    /** The ids after the id `after`, which is empty for the first page. */
    async pending(after: string, limit: number): Promise<string[]> {
      const rows = await db.rows<{ assistantId: string }>(PENDING, [after, limit]);
      return rows.map((row) => row.assistantId);
    },

    async markDeleted(assistantId: string): Promise<void> {
      await db.change(MARK_DELETED, [assistantId]);
    },
  };
}
