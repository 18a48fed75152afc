import { refuse, refuseField } from '../../../lib/errors.ts';
import { FieldProblems } from '../../../lib/field-problems.ts';
import { isId } from '../../../lib/ids.ts';
import { MAX_SKILL_PROMPT_BYTES, skillPrompt } from '../../../lib/skill-prompt.ts';
import type { PinnedSkill } from './runtime-fields.ts';

/** A skill with its newest version. */
export interface ExtensionSkill {
  skillId: string;
  name: string;
  enabled: boolean;
  newest: number;
  description: string;
  workspaceId: string;
}

/** A skill that an agent shall have. Without a version, the pinned one stays, or the newest one is pinned. */
export interface ChosenSkill {
  skillId: string;
  version: number | undefined;
}

const MAX_SKILLS = 50;
const PINNED = /^(.+)@([1-9]\d{0,8})$/;

/** Reads `skl_…` and `skl_…@3`. Refused with INVALID_REQUEST for a list that is not valid, and with SKILL_NOT_FOUND. */
export function parseSkillIds(texts: readonly string[]): ChosenSkill[] {
  if (texts.length > MAX_SKILLS) throw refuseField('/skill_ids', `must have at most ${MAX_SKILLS} items`);
  const chosen = texts.map((text, index) => {
    const [, id = text, version] = PINNED.exec(text) ?? [];
    if (!isId('skl', id)) throw absent(index);
    return { skillId: id, version: version === undefined ? undefined : Number(version) };
  });
  const problems = new FieldProblems();
  const ids = chosen.map(({ skillId }) => skillId);
  for (const [index, id] of ids.entries())
    if (ids.indexOf(id) < index)
      problems.add(`/skill_ids/${index}`, 'must not repeat the skill of an earlier item');
  problems.throwIfAny();
  return chosen;
}

/**
 * The skills of an agent after a change. `before` are those that it has, `newest` are skills that exist, and `versions` are
 * the named versions. Refused with SKILL_NOT_FOUND, SKILL_VERSION_NOT_FOUND, and with INVALID_REQUEST when the descriptions
 * are too long together.
 */
export function pinSkills(
  chosen: readonly ChosenSkill[],
  {
    before,
    newest,
    versions,
  }: {
    before: readonly PinnedSkill[];
    newest: readonly ExtensionSkill[];
    versions: readonly PinnedSkill[];
  },
): PinnedSkill[] {
  const pins = chosen.map(({ skillId, version }, index): PinnedSkill => {
    const skill = newest.find((one) => one.skillId === skillId);
    if (!skill) throw absent(index);
    const former = before.find(({ id }) => id === skillId);
    if (version === undefined) return former ?? newestPin(skill);
    const named = versions.find((one) => one.id === skillId && one.version === version);
    if (named) return named;
    const pointer = `/skill_ids/${index}`;
    throw refuse('SKILL_VERSION_NOT_FOUND', `${pointer} names a version that does not exist.`, {
      details: [{ pointer, message: 'names a version that does not exist' }],
    });
  });
  if (Buffer.byteLength(skillPrompt(pins)) > MAX_SKILL_PROMPT_BYTES)
    throw refuseField(
      '/skill_ids',
      'must name skills whose descriptions have at most 16 KiB in the system prompt',
    );
  return pins;
}

function newestPin({ skillId, name, newest, description, workspaceId }: ExtensionSkill): PinnedSkill {
  return { id: skillId, name, version: newest, description, workspaceId };
}

function absent(index: number) {
  const pointer = `/skill_ids/${index}`;
  return refuse('SKILL_NOT_FOUND', `${pointer} must name a skill.`, {
    details: [{ pointer, message: 'must name a skill' }],
  });
}

/** ready | disabled | deleted */
export function skillState(skill: Pick<ExtensionSkill, 'enabled'> | undefined): string {
  if (!skill) return 'deleted';
  return skill.enabled ? 'ready' : 'disabled';
}
