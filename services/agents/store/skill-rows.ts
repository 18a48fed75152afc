import type { Skill, SkillVersion } from '../domain/skill.ts';

/** A skill with its newest version. */
export interface SkillRow
  extends Omit<Skill, 'newest'>,
    Omit<SkillVersion, 'skillId' | 'name' | 'createdBy' | 'createdAt'> {
  versionBy: string;
  versionAt: Date;
}

export function skillFromRow(row: SkillRow): Skill {
  const { skillId, name, enabled, revision, createdBy, createdAt, updatedAt } = row;
  const { version, sha256, description, frontmatter, fileCount, bytes, warnings, workspaceId } = row;
  return {
    ...{ skillId, name, enabled, revision, createdBy, createdAt, updatedAt },
    newest: {
      ...{
        skillId,
        name,
        version,
        sha256,
        description,
        frontmatter,
        fileCount,
        bytes,
        warnings,
        workspaceId,
      },
      createdBy: row.versionBy,
      createdAt: row.versionAt,
    },
  };
}
