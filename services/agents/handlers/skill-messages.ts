import type {
  Skill as SkillMessage,
  SkillVersion as SkillVersionMessage,
} from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { Skill, SkillVersion } from '../domain/skill.ts';

export function skillMessage(skill: Skill): SkillMessage {
  return { ...skill, newest: skillVersionMessage(skill.newest) };
}

export function skillVersionMessage({ frontmatter, ...version }: SkillVersion): SkillVersionMessage {
  return { ...version, ...frontmatter };
}
