import { ancestorsOf, pathProblem } from '../../../lib/paths.ts';
import { SKILL_LIMITS } from './skill-limits.ts';
import { SkillProblem, shownPath } from './skill-problem.ts';

export const SKILL_FILE = 'SKILL.md';

/** Names that archivers and version control add. Entries with such a part in their path are left out. */
const DROPPED = new Set(['__MACOSX', '.DS_Store', '.git']);

export interface SkillWarning {
  path: string;
  message: string;
}

/** Checks the paths of an archive one after the other. All methods throw a SkillProblem. */
export class SkillTree {
  readonly warnings: SkillWarning[] = [];
  #entries = 0;
  #bytes = 0;
  /** By the path in a form that is equal for paths that some file system does not distinguish. */
  readonly #paths = new Map<string, { path: string; isFile: boolean }>();

  /** Returns the path of a file to keep; undefined for one that is left out. */
  addFile(name: string): string | undefined {
    this.#count();
    const path = checkSkillPath(name);
    if (isDropped(path)) {
      this.warnings.push({
        path: shownPath(path),
        message: 'was left out, because it is no part of a skill',
      });
      return undefined;
    }
    this.#register(path, true);
    return path;
  }

  addDirectory(name: string): void {
    this.#count();
    // Archives of a current directory begin with "./".
    if (/^\.?\/*$/.test(name)) return;
    const path = checkSkillPath(name.replace(/\/+$/, ''));
    if (!isDropped(path)) this.#register(path, false);
  }

  /** Counts unpacked bytes of a file, of which there are `fileBytes` so far. */
  countBytes(path: string, bytes: number, fileBytes: number): void {
    this.#bytes += bytes;
    if (fileBytes > SKILL_LIMITS.fileBytes) throw new SkillProblem(path, 'must have at most 32 MiB');
    if (this.#bytes > SKILL_LIMITS.bytes)
      throw new SkillProblem('', 'must have at most 100 MiB when unpacked');
  }

  #count(): void {
    if (++this.#entries > SKILL_LIMITS.entries)
      throw new SkillProblem('', `must have at most ${SKILL_LIMITS.entries} files and directories`);
  }

  #register(path: string, isFile: boolean): void {
    for (const directory of ancestorsOf(path)) this.#registerOne(directory, false);
    this.#registerOne(path, isFile);
  }

  #registerOne(path: string, isFile: boolean): void {
    const key = path.normalize('NFKC').toLowerCase();
    const earlier = this.#paths.get(key);
    if (!earlier) this.#paths.set(key, { path, isFile });
    else if (earlier.path !== path)
      throw new SkillProblem(
        path,
        `must differ from \`${shownPath(earlier.path)}\` in more than letter case or form`,
      );
    else if (isFile || earlier.isFile) throw new SkillProblem(path, 'must not occur twice');
  }
}

/** Returns whether so many unpacked bytes can come from so many packed bytes. */
export function isBomb(packedBytes: number, unpackedBytes: number): boolean {
  return (
    unpackedBytes > SKILL_LIMITS.unlimitedRatioBytes &&
    unpackedBytes > SKILL_LIMITS.ratio * Math.max(1, packedBytes)
  );
}

/** Returns the path of an entry as it is stored. */
function checkSkillPath(name: string): string {
  const path = name.startsWith('./') ? name.slice(2) : name;
  if (path.includes('\ufffd')) throw new SkillProblem(path, 'must be UTF-8');
  if (path.includes('\\')) throw new SkillProblem(path, 'must not hold a backslash');
  if (/^[a-zA-Z]:/.test(path)) throw new SkillProblem(path, 'must be relative, without a drive letter');
  const problem = pathProblem(path);
  if (problem) throw new SkillProblem(path, problem);
  return path;
}

function isDropped(path: string): boolean {
  return path.split('/').some((name) => DROPPED.has(name));
}

/**
 * The folder that holds all files of the archive with SKILL.md directly in it, or an empty text when SKILL.md lies at the
 * root. Throws a SkillProblem.
 */
export function skillRoot(paths: readonly string[]): string {
  if (paths.includes(SKILL_FILE)) return '';
  const folder = paths[0]?.split('/')[0] ?? '';
  if (paths.includes(`${folder}/${SKILL_FILE}`)) {
    const outside = paths.find((path) => !path.startsWith(`${folder}/`));
    if (outside === undefined) return folder;
    throw new SkillProblem(outside, `must be in the folder of \`${shownPath(folder)}/${SKILL_FILE}\``);
  }
  throw new SkillProblem(SKILL_FILE, 'must be at the root of the archive or in its only folder');
}
