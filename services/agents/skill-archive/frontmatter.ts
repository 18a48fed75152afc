import { parseDocument } from 'yaml';
import { SKILL_LIMITS } from '../domain/skill-limits.ts';
import { SkillProblem } from '../domain/skill-problem.ts';
import { SKILL_FILE } from '../domain/skill-tree.ts';

/** The frontmatter of SKILL.md. Empty texts: none. */
export interface SkillFrontmatter {
  name: string;
  description: string;
  license: string;
  compatibility: string;
  metadata: Record<string, string>;
  /** Kept and shown; it grants nothing. */
  allowedTools: string;
  /** Members that the format does not have. They are not kept. */
  unknownMembers: string[];
}

export const SKILL_NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const MAX_NAME = 64;
const MAX_DESCRIPTION = 1_024;
const MAX_COMPATIBILITY = 500;
const MAX_TEXT = 4_096;
const MEMBERS = ['name', 'description', 'license', 'compatibility', 'metadata', 'allowed-tools'];
/** Limits the members of `metadata`. */
const MAX_METADATA = 64;

/** Reads the frontmatter at the beginning of SKILL.md. Throws a SkillProblem, with a path that names the member. */
export function parseFrontmatter(text: string, folder: string): SkillFrontmatter {
  const members = readYaml(frontmatterOf(text));
  const name = textOf(members, 'name', MAX_NAME);
  if (!SKILL_NAME.test(name))
    throw problem('must have a name of 1–64 of the characters a–z, 0–9 and single hyphens between them');
  if (folder !== '' && folder !== name)
    throw problem(`must have the name of its folder, ${JSON.stringify(folder)}`);
  const description = textOf(members, 'description', MAX_DESCRIPTION);
  if (description.trim() === '') throw problem(`must have a description of 1–${MAX_DESCRIPTION} characters`);
  return {
    name,
    description,
    license: textOf(members, 'license', MAX_TEXT),
    compatibility: textOf(members, 'compatibility', MAX_COMPATIBILITY),
    metadata: metadataOf(members.metadata),
    allowedTools: allowedToolsOf(members['allowed-tools']),
    unknownMembers: Object.keys(members).filter((member) => !MEMBERS.includes(member)),
  };
}

/** The lines between the first line, which must be `---`, and the next one. */
function frontmatterOf(text: string): string {
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/);
  const end = lines.findIndex((line, index) => index > 0 && line.trimEnd() === '---');
  if (lines[0]?.trimEnd() !== '---') throw problem('must begin with frontmatter between two lines of `---`');
  const yaml = lines.slice(1, Math.max(1, end)).join('\n');
  if (end < 0 || Buffer.byteLength(yaml) > SKILL_LIMITS.frontmatterBytes)
    throw problem('must have frontmatter of at most 16 KiB that ends with a line of `---`');
  return yaml;
}

function readYaml(yaml: string): Record<string, unknown> {
  let value: unknown;
  try {
    const document = parseDocument(yaml, { schema: 'core', version: '1.2', strict: true, uniqueKeys: true });
    const [error] = [...document.errors, ...document.warnings];
    if (error) throw error;
    value = document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '').slice(0, 200) : '';
    throw problem(`must have frontmatter that is YAML without aliases: ${reason}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw problem('must have frontmatter with members');
  return value as Record<string, unknown>;
}

function textOf(members: Record<string, unknown>, member: string, maxCharacters: number): string {
  const value = members[member] ?? '';
  if (typeof value !== 'string') throw problem(`must have a text as ${member}`);
  return checkText(value, member, maxCharacters);
}

function checkText(value: string, member: string, maxCharacters: number): string {
  if ([...value].length > maxCharacters)
    throw problem(`must have a ${member} of at most ${maxCharacters} characters`);
  if (!value.isWellFormed() || value.includes('\0'))
    throw problem(`must have a ${member} without NUL characters and lone surrogates`);
  return value;
}

function metadataOf(value: unknown): Record<string, string> {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value))
    throw problem('must have members of text as metadata');
  const entries = Object.entries(value);
  if (entries.length > MAX_METADATA) throw problem(`must have at most ${MAX_METADATA} members of metadata`);
  return Object.fromEntries(
    entries.map(([key, member]) => {
      if (typeof member !== 'string') throw problem('must have members of text as metadata');
      return [checkText(key, 'metadata key', MAX_TEXT), checkText(member, 'metadata value', MAX_TEXT)];
    }),
  );
}

/** A text, or a list of texts as other programs write it. */
function allowedToolsOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  const texts = Array.isArray(value) ? value : [value];
  if (!texts.every((text) => typeof text === 'string')) throw problem('must have a text as allowed-tools');
  return checkText(texts.join(' '), 'allowed-tools', MAX_TEXT);
}

const problem = (message: string) => new SkillProblem(SKILL_FILE, message);
