import { Type } from 'typebox';
import type { Skill, SkillFile, SkillVersion } from '../../proto/gen/ahs/agents/v1/agents.ts';
import { closed, count, flag, id, optional, revision, serializeTime, text, time } from './common.ts';
import { BINARY, SHA256_EXAMPLE } from './files.ts';

/** The OpenAPI request body of an archive. */
export const SKILL_ARCHIVE = {
  required: true,
  content: Object.fromEntries(
    ['application/zip', 'application/x-tar', 'application/gzip'].map((type) => [
      type,
      { schema: BINARY, example: 'The bytes of the archive.' },
    ]),
  ),
};

const enabled = flag('Whether sessions get the skill.');
export const SkillPatch = closed({ enabled: optional(enabled) });

const description = text('When to use the skill, for the model.', { examples: ['Fills in PDF forms.'] });
const name = text('The unique name, by which models load the skill.', {
  examples: ['pdf-forms'],
});

const members = {
  description,
  license: text('The license. Empty: none.', { examples: ['MIT'] }),
  compatibility: text('Required programs and environments, for people. Empty: none.', {
    examples: ['Requires Python.'],
  }),
  metadata: Type.Record(Type.String(), Type.String(), {
    description: 'The `metadata` of SKILL.md.',
    examples: [{ author: 'Example' }],
  }),
  allowed_tools: text('The `allowed-tools` of SKILL.md. They grant nothing. Empty: none.', {
    examples: ['bash'],
  }),
  version: count('The number of the version: 1, 2, 3 …'),
  sha256: text('The SHA-256 of the paths, modes and contents of its files.', { examples: [SHA256_EXAMPLE] }),
  bytes: count('The size of its files in bytes.', 1_024),
  file_count: count('The number of its files.', 2),
  warnings: Type.Array(
    Type.Object(
      {
        path: text('The path in the archive.', { examples: ['.DS_Store'] }),
        message: text('The reason for the warning.', {
          examples: ['was left out, because it is no part of a skill'],
        }),
      },
      { title: 'SkillWarning' },
    ),
  ),
};

export const SkillShape = Type.Object(
  {
    skill_id: id('skl', 'the skill'),
    name,
    enabled,
    ...members,
    revision,
    created_by: id('usr', 'the user who created it'),
    created_at: time('The creation time.'),
    updated_at: time('The time of the last change or version.'),
  },
  { title: 'Skill', description: 'A skill with its newest version.' },
);

export const SkillVersionShape = Type.Object(
  {
    skill_id: id('skl', 'the skill'),
    name,
    ...members,
    created_by: id('usr', 'the user who published it'),
    created_at: time('The time of publication.'),
  },
  { title: 'SkillVersion' },
);

export const SkillFileShape = Type.Object(
  {
    path: text('The path below the directory of the skill.', { examples: ['SKILL.md'] }),
    size: count('The size in bytes.', 12),
    sha256: text('The SHA-256 of the bytes in lowercase hexadecimal.', { examples: [SHA256_EXAMPLE] }),
    executable: flag('Whether it is a program.', false),
  },
  { title: 'SkillFile' },
);

export function serializeSkill(skill: Skill | undefined) {
  return {
    skill_id: skill?.skillId,
    name: skill?.name,
    enabled: skill?.enabled,
    ...serializeMembers(skill?.newest),
    revision: skill?.revision,
    created_by: skill?.createdBy,
    created_at: serializeTime(skill?.createdAt),
    updated_at: serializeTime(skill?.updatedAt),
  };
}

export function serializeSkillVersion(version: SkillVersion) {
  return {
    skill_id: version.skillId,
    name: version.name,
    ...serializeMembers(version),
    created_by: version.createdBy,
    created_at: serializeTime(version.createdAt),
  };
}

function serializeMembers(version: SkillVersion | undefined) {
  return {
    description: version?.description,
    license: version?.license,
    compatibility: version?.compatibility,
    metadata: version?.metadata,
    allowed_tools: version?.allowedTools,
    version: version?.version,
    sha256: version?.sha256,
    bytes: version?.bytes,
    file_count: version?.fileCount,
    warnings: version?.warnings,
  };
}

export function serializeSkillFile({ path, size, sha256, executable }: SkillFile) {
  return { path, size, sha256, executable };
}
