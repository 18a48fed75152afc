import { sha256 } from '../../../lib/digest.ts';
import { type Refusal, refuse } from '../../../lib/errors.ts';
import { isId } from '../../../lib/ids.ts';
import type { SkillWarning } from './skill-tree.ts';

/** An immutable version of a skill. */
export interface SkillVersion {
  skillId: string;
  name: string;
  /** 1, 2, 3 … */
  version: number;
  /** Of the paths, modes and contents of its files. */
  sha256: string;
  description: string;
  frontmatter: SkillFacts;
  fileCount: number;
  bytes: number;
  warnings: SkillWarning[];
  /** wsp_… */
  workspaceId: string;
  createdBy: string;
  createdAt: Date;
}

/** Members of the frontmatter that are shown only. Empty texts: none. */
export interface SkillFacts {
  license: string;
  compatibility: string;
  metadata: Record<string, string>;
  allowedTools: string;
}

export interface Skill {
  skillId: string;
  name: string;
  enabled: boolean;
  revision: number;
  newest: SkillVersion;
  createdBy: string;
  createdAt: Date;
  updatedAt: Date;
}

export interface SkillFile {
  path: string;
  size: number;
  sha256: string;
  executable: boolean;
}

/** A version that is not stored, without its number. */
export type NewSkillVersion = Omit<SkillVersion, 'skillId' | 'version'> & { files: SkillFile[] };

/** Names a skill in refusals. */
export const SKILL_NOUN = 'skill';

/** Returns the skill after a change of `enabled`, or the same object. */
export function enableSkill(before: Skill, enabled: boolean | undefined, now: Date): Skill {
  if (enabled === undefined || enabled === before.enabled) return before;
  return { ...before, enabled, revision: before.revision + 1, updatedAt: now };
}

/** Returns the SHA-256 that identifies the files of a version. `files` are in the byte order of their paths. */
export function treeDigest(files: readonly SkillFile[]): string {
  const lines = files.map((file) => `${file.executable ? 'x' : '-'} ${file.sha256} ${file.path}\n`).join('');
  return sha256(lines);
}

export function skillNotFound(): Refusal {
  return refuse('SKILL_NOT_FOUND', 'Unknown skill.');
}

export function skillVersionNotFound(version: number): Refusal {
  return refuse('SKILL_VERSION_NOT_FOUND', `The skill has no version ${version}.`);
}

export function skillNameTaken(name: string): Refusal {
  return refuse(
    'NAME_TAKEN',
    `A skill with the name \`${name}\` already exists. Publish a version of it instead.`,
  );
}

/** Refused with SKILL_NOT_FOUND for a text that is no id of a skill. */
export function checkSkillId(skillId: string): void {
  if (!isId('skl', skillId)) throw skillNotFound();
}

/** Refused with RESOURCE_IN_USE while `users` agents and assistants have the skill. */
export function checkSkillUnused(users: number): void {
  if (users === 0) return;
  const subject = users === 1 ? '1 agent or assistant has' : `${users} agents and assistants have`;
  throw refuse('RESOURCE_IN_USE', `${subject} this skill. Remove it from their extensions first.`);
}
