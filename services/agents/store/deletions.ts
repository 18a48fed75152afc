import { type Database, statement } from '../../../lib/db/database.ts';

const OWED = statement(
  'agents.workspaces_to_delete',
  `select agent_id as "assistantId" from agents where workspace_to_delete and agent_id > $1
   order by agent_id limit $2`,
);

const SETTLED = statement(
  'agents.workspace_deleted',
  'update agents set workspace_to_delete = false where agent_id = $1',
);

export type DeletionStore = ReturnType<typeof createDeletionStore>;

/** Which assistants are deleted while their workspaces may still be there. */
export function createDeletionStore(db: Database) {
  return {
    /** Those after the given one (empty: the first ones). */
    async owed(after: string, limit: number): Promise<string[]> {
      const rows = await db.rows<{ assistantId: string }>(OWED, [after, limit]);
      return rows.map((row) => row.assistantId);
    },

    async settled(assistantId: string): Promise<void> {
      await db.change(SETTLED, [assistantId]);
    },
  };
}
