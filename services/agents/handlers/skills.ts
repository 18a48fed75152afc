import { refuse } from '../../../lib/errors.ts';
import { administratorOf } from '../../../lib/grpc/caller.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import { checkRevision } from '../../../lib/revisions.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { checkPage, checkSearch } from '../domain/agent-form.ts';
import { checkSkillId, enableSkill, SKILL_NOUN, type Skill } from '../domain/skill.ts';
import type { AgentsHandlerContext } from './context.ts';
import { skillMessage, skillVersionMessage } from './skill-messages.ts';

type Methods = Pick<
  Handlers<AgentsServiceDefinition>,
  | 'listSkills'
  | 'getSkill'
  | 'updateSkill'
  | 'deleteSkill'
  | 'listSkillVersions'
  | 'getSkillVersion'
  | 'listSkillFiles'
  | 'lookUpSkills'
>;

const MAX_LOOKED_UP = 100;

/** The RPCs for existing skills. Only administrators manage them. */
export function skillHandlers(context: AgentsHandlerContext): Methods {
  const { skills, record, clock, publishHint, startDeletions } = context;

  return {
    async listSkills({ page, q }, call) {
      const { userId } = administratorOf(call);
      checkSearch(q);
      const { items, nextCursor } = await skills.list(userId, q, checkPage(page), call);
      return { skills: items.map(skillMessage), page: { nextCursor } };
    },

    async getSkill({ skillId }, call) {
      administratorOf(call);
      return { skill: skillMessage(await skills.skill(skillId, call)) };
    },

    async updateSkill({ skillId, enabled, ifRevisions }, call) {
      administratorOf(call);
      await skills.skill(skillId, call);
      await record({ action: 'skill.update', targetId: skillId, data: { enabled } }, call);
      const change = (skill: Skill) => {
        checkRevision(SKILL_NOUN, skill.revision, ifRevisions);
        return enableSkill(skill, enabled, clock.now());
      };
      const after = await skills.change(skillId, change, call);
      publishHint('extensions.changed', skillId);
      return { skill: skillMessage(after) };
    },

    async deleteSkill({ skillId, ifRevisions }, call) {
      administratorOf(call);
      const { name } = await skills.skill(skillId, call);
      await record({ action: 'skill.delete', targetId: skillId, data: { name } }, call);
      const check = (revision: number) => checkRevision(SKILL_NOUN, revision, ifRevisions);
      await skills.delete(skillId, check, clock.now(), call);
      publishHint('extensions.changed', skillId);
      startDeletions();
      return {};
    },

    async listSkillVersions({ skillId, page }, call) {
      administratorOf(call);
      await skills.skill(skillId, call);
      const { items, nextCursor } = await skills.versions(skillId, checkPage(page), call);
      return { versions: items.map(skillVersionMessage), page: { nextCursor } };
    },

    async getSkillVersion({ skillId, version }, call) {
      administratorOf(call);
      await skills.skill(skillId, call);
      return { version: skillVersionMessage(await skills.version(skillId, version, call)) };
    },

    async listSkillFiles({ skillId, version, page }, call) {
      administratorOf(call);
      await skills.skill(skillId, call);
      await skills.version(skillId, version, call);
      const { items, nextCursor } = await skills.files(skillId, version, checkPage(page), call);
      return { files: items, page: { nextCursor } };
    },

    async lookUpSkills({ skillIds }, call) {
      if (skillIds.length > MAX_LOOKED_UP)
        throw refuse('INVALID_REQUEST', `The request must name at most ${MAX_LOOKED_UP} skills.`);
      for (const skillId of skillIds) checkSkillId(skillId);
      return { skills: await skills.lookUp(skillIds, call) };
    },
  };
}
