import type { Clock } from '../../../lib/clock.ts';
import type { Database, WriteOptions } from '../../../lib/db/database.ts';
import * as sql from './skill-statements.ts';

export type SkillTreeStore = ReturnType<typeof createSkillTreeStore>;

/** A tree of files in the service files. */
export interface SkillTreeKey {
  skillId: string;
  /** wsp_… */
  workspaceId: string;
}

/** The time in which a tree is stored and its version is created. */
const CREATION_MS = 60 * 60 * 1_000;

/** Trees of files that are to be deleted, because no version of a skill has them. */
export function createSkillTreeStore(db: Database, clock: Clock) {
  return {
    /** Records a tree before it is stored. It is deleted if no version has it in time. */
    async expect({ skillId, workspaceId }: SkillTreeKey, options?: WriteOptions): Promise<void> {
      const due = new Date(clock.now().getTime() + CREATION_MS);
      await db.change(sql.EXPECT_TREE, [workspaceId, skillId, due], options);
    },

    /** Makes a tree that no version has due for deletion. Does nothing for others. */
    async abandon(workspaceId: string): Promise<void> {
      await db.change(sql.ABANDON_TREE, [workspaceId, clock.now()]);
    },

    /** The due trees after the workspace id `after`, which is empty for the first page. */
    async pending(after: string, limit: number): Promise<SkillTreeKey[]> {
      return db.rows<SkillTreeKey>(sql.TREES_TO_DELETE, [after, limit, clock.now()]);
    },

    async markDeleted(workspaceId: string): Promise<void> {
      await db.change(sql.KEEP_TREE, [workspaceId]);
    },
  };
}
