import { type Database, statement } from '../../../lib/db/database.ts';

/** `mark` is the column of deleted agents and assistants whose data may not be deleted yet. */
const statementsOf = (name: string, mark: string) => ({
  pending: statement(
    `agents.${name}_to_delete`,
    `select agent_id as "agentId" from agents where ${mark} and agent_id > $1 order by agent_id limit $2`,
  ),
  markDeleted: statement(`agents.${name}_deleted`, `update agents set ${mark} = false where agent_id = $1`),
});

const WORKSPACES = statementsOf('workspaces', 'workspace_to_delete');
const ASSIGNMENTS = statementsOf('assignments', 'assignments_to_delete');

/** Deleted agents and assistants whose data in another service may not be deleted yet. */
export function createDeletionStore(db: Database, data: 'workspaces' | 'assignments') {
  const statements = data === 'workspaces' ? WORKSPACES : ASSIGNMENTS;
  return {
    /** The ids after the id `after`, which is empty for the first page. */
    async pending(after: string, limit: number): Promise<string[]> {
      const rows = await db.rows<{ agentId: string }>(statements.pending, [after, limit]);
      return rows.map((row) => row.agentId);
    },

    async markDeleted(agentId: string): Promise<void> {
      await db.change(statements.markDeleted, [agentId]);
    },
  };
}
