import type { SkillFile } from '../../../gen/types.gen.ts';

/** A file that differs between two versions of a skill. A side without the file is absent. */
export interface FileChange {
  path: string;
  kind: 'added' | 'removed' | 'changed' | 'mode';
  before?: SkillFile;
  after?: SkillFile;
}

/** Returns the files that differ, by path. The kind is `mode` when only the executable mark differs. */
export function fileChanges(before: readonly SkillFile[], after: readonly SkillFile[]): FileChange[] {
  const earlier = new Map(before.map((file) => [file.path, file]));
  const later = new Map(after.map((file) => [file.path, file]));
  const changes: FileChange[] = [];
  for (const path of new Set([...earlier.keys(), ...later.keys()])) {
    const [was, is] = [earlier.get(path), later.get(path)];
    if (was && is) {
      if (was.sha256 !== is.sha256) changes.push({ path, kind: 'changed', before: was, after: is });
      else if (was.executable !== is.executable) changes.push({ path, kind: 'mode', before: was, after: is });
    } else if (was) changes.push({ path, kind: 'removed', before: was });
    else if (is) changes.push({ path, kind: 'added', after: is });
  }
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
}
