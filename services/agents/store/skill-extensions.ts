import type { Database, DatabaseSession, ReadOptions } from '../../../lib/db/database.ts';
import { refuse } from '../../../lib/errors.ts';
import type { AgentRuntime } from '../domain/agent-runtime.ts';
import type { PinnedSkill } from '../domain/runtime-fields.ts';
import type { ChosenSkill, ExtensionSkill } from '../domain/skill-extensions.ts';
import * as sql from './skill-statements.ts';

export type SkillExtensionStore = ReturnType<typeof createSkillExtensionStore>;

/** Reads skills as the service: all users may see their names, descriptions and versions. */
export function createSkillExtensionStore(db: Database) {
  return {
    /** The skills with these ids that exist, and if asked for all others, by name. */
    async skills(
      ids: readonly string[],
      withOthers: boolean,
      { signal, trace }: ReadOptions,
    ): Promise<ExtensionSkill[]> {
      return db.rows<ExtensionSkill>(sql.EXTENSION_SKILLS, [ids, withOthers], {
        ...(signal && { signal }),
        trace,
      });
    },

    /** The named versions that exist. */
    async versions(chosen: readonly ChosenSkill[], { signal, trace }: ReadOptions): Promise<PinnedSkill[]> {
      const named = chosen.filter(({ version }) => version !== undefined);
      if (named.length === 0) return [];
      const values = [named.map(({ skillId }) => skillId), named.map(({ version }) => version)];
      const rows = await db.rows<Omit<PinnedSkill, 'id'> & { skillId: string }>(sql.PINNED_VERSIONS, values, {
        ...(signal && { signal }),
        trace,
      });
      return rows.map(({ skillId: id, name, version, description, workspaceId }) => ({
        ...{ id, name, version, description, workspaceId },
      }));
    },
  };
}

/** Keeps the skills of a changed runtime from being deleted before the transaction ends. Refused with SKILL_NOT_FOUND. */
export async function requireSkills(
  tx: DatabaseSession,
  { before, after }: { before: AgentRuntime; after: AgentRuntime },
): Promise<void> {
  const { items } = after.skills;
  if (items.length === 0 || items === before.skills.items) return;
  const found = await tx.rows<{ skillId: string }>(sql.LOCK_SKILLS_FOR_USE, [items.map(({ id }) => id)]);
  const missing = items.find(({ id }) => found.every(({ skillId }) => skillId !== id));
  if (missing) throw refuse('SKILL_NOT_FOUND', `The skill \`${missing.name}\` was deleted.`);
}
