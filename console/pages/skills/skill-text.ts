import { type SkillVersionRef, skills } from '../../api/skills.ts';
import type { SkillFile } from '../../gen/index.ts';
import { readText } from '../../parts/files/preview/read-text.ts';

/** The text of a file of a version. */
export const skillText = (of: SkillVersionRef, { path, size }: Pick<SkillFile, 'path' | 'size'>) =>
  skills.content(of, path, 'text', (signal) =>
    readText((range) => skills.readRange(of, path, range, signal), size),
  );
