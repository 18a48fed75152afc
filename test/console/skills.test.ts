import { describe, expect, it } from 'vitest';
import type { ExtensionSkill } from '../../console/gen/types.gen.ts';
import { fileChanges } from '../../console/pages/skills/comparison/file-changes.ts';
import { archiveTypeOf } from '../../console/pages/skills/upload/archive.ts';
import {
  type ExtensionsDraft,
  pinnedVersion,
  readExtensionsDraft,
  skillText,
  withSkill,
} from '../../console/parts/extensions/draft.ts';

const bytes = (text: string, at = 0) =>
  new Uint8Array([...new Array(at).fill(0), ...Buffer.from(text, 'latin1')]);

describe('archiveTypeOf', () => {
  it.each([
    ['a zip archive with another name', 'skill.bin', bytes('PK\x03\x04'), 'application/zip'],
    ['an empty zip archive', 'skill.zip', bytes('PK\x05\x06'), 'application/zip'],
    ['a compressed tar archive', 'skill.zip', bytes('\x1f\x8b\x08'), 'application/gzip'],
    ['a tar archive', 'skill', bytes('ustar', 257), 'application/x-tar'],
    ['a tar archive without a mark, by its name', 'Skill.TAR', bytes('SKILL.md'), 'application/x-tar'],
    ['any other file', 'skill.zip', bytes('# Skill'), undefined],
    ['an empty file', 'skill.tgz', bytes(''), undefined],
  ])('finds the type of %s', (_, name, head, type) => {
    expect(archiveTypeOf(name, head)).toBe(type);
  });
});

describe('fileChanges', () => {
  const file = (path: string, sha256: string, executable = false) => ({ path, size: 1, sha256, executable });

  it('lists added, removed and changed files and changes of the mode by path', () => {
    const before = [file('SKILL.md', '1'), file('gone', '2'), file('run.sh', '3'), file('same', '4')];
    const after = [file('SKILL.md', '5'), file('run.sh', '3', true), file('added', '6'), file('same', '4')];
    expect(fileChanges(before, after).map(({ path, kind }) => `${kind} ${path}`)).toEqual([
      'changed SKILL.md',
      'added added',
      'removed gone',
      'mode run.sh',
    ]);
  });
});

describe('the skills in the editor of extensions', () => {
  const EMPTY: ExtensionsDraft = { servers: [], skills: [] };
  const skill = (skill_id: string, name: string): ExtensionSkill => ({
    ...{ skill_id, name, description: '', version: 3, newest_version: 4, state: 'ready' },
  });

  it('pin the chosen version, move to another one and are removed', () => {
    const draft = { ...EMPTY, skills: withSkill({ ...EMPTY, skills: ['skl_B@1'] }, 'skl_A', 3) };
    expect(draft.skills).toEqual(['skl_A@3', 'skl_B@1']);
    expect(pinnedVersion(draft, 'skl_A')).toBe(3);
    expect(withSkill(draft, 'skl_A', 4)).toEqual(['skl_A@4', 'skl_B@1']);
    expect(withSkill(draft, 'skl_A', undefined)).toEqual(['skl_B@1']);
    expect(pinnedVersion(EMPTY, 'skl_A')).toBeUndefined();
  });

  it('are shown by name and version, and at most 50 of them are accepted', () => {
    expect(skillText('skl_A@3', [skill('skl_A', 'refunds')])).toBe('refunds, version 3');
    expect(skillText('skl_B@1', [skill('skl_B', '')])).toBe('skl_B, version 1');
    const skills = Array.from({ length: 51 }, (_, index) => `skl_${index}@1`);
    expect(readExtensionsDraft({ ...EMPTY, skills }).problems).toEqual({
      '/skill_ids': 'Choose at most 50 skills.',
    });
    expect(readExtensionsDraft({ ...EMPTY, skills: skills.slice(1) }).problems).toEqual({});
  });
});
