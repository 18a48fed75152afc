import type { AgentExtensions, ExtensionSkill } from '../../gen/types.gen.ts';
import type { FieldProblems } from '../editor/problems.ts';

export interface ExtensionsDraft {
  servers: string[];
  /** Ids of skills, each with `@` and its version. */
  skills: string[];
}

const MAX_SERVERS = 20;
const MAX_SKILLS = 50;

/** The id of a skill with a pinned version. */
export const pinOf = (skillId: string, version: number) => `${skillId}@${version}`;

type ExtensionIds = Pick<AgentExtensions, 'mcp_server_ids' | 'skill_ids'>;

export const extensionsDraftOf = ({ mcp_server_ids: servers, skill_ids: skills }: ExtensionIds) => ({
  servers: servers.toSorted(),
  skills: skills.toSorted(),
});

export function readExtensionsDraft({ servers, skills }: ExtensionsDraft) {
  const problems: FieldProblems = {
    ...(servers.length > MAX_SERVERS && { '/mcp_server_ids': `Choose at most ${MAX_SERVERS} servers.` }),
    ...(skills.length > MAX_SKILLS && { '/skill_ids': `Choose at most ${MAX_SKILLS} skills.` }),
  };
  const body: ExtensionIds = { mcp_server_ids: servers, skill_ids: skills };
  return { body, problems };
}

/** The version of a skill in the draft; undefined when the draft does not have the skill. */
export function pinnedVersion(draft: ExtensionsDraft, skillId: string): number | undefined {
  const pin = draft.skills.find((one) => one.startsWith(`${skillId}@`));
  return pin === undefined ? undefined : Number(pin.slice(skillId.length + 1));
}

/** Pins a version of a skill; without a version, removes the skill. */
export function withSkill(draft: ExtensionsDraft, skillId: string, version: number | undefined): string[] {
  const others = draft.skills.filter((one) => !one.startsWith(`${skillId}@`));
  return (version === undefined ? others : [...others, pinOf(skillId, version)]).toSorted();
}

/** The skill of an id with a version, as text: `refunds, version 3`. */
export function skillText(pin: string, skills: readonly ExtensionSkill[]): string {
  const [skillId = pin, version] = pin.split('@');
  const name = skills.find(({ skill_id: id }) => id === skillId)?.name || skillId;
  return version === undefined ? name : `${name}, version ${version}`;
}
