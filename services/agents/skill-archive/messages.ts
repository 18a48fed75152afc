import type { SkillWarning } from '../domain/skill-tree.ts';
import type { SkillFrontmatter } from './frontmatter.ts';

export const ARCHIVE_TYPES = ['application/zip', 'application/x-tar', 'application/gzip'] as const;
export type ArchiveType = (typeof ARCHIVE_TYPES)[number];

/** The task of the thread that unpacks an archive. */
export interface UnpackTask {
  archive: string;
  type: ArchiveType;
  /** The path of a file to create for the bytes of all files. */
  contents: string;
}

export interface UnpackedFile {
  path: string;
  /** The position of the bytes in `contents` of the task. */
  offset: number;
  size: number;
  /** Lowercase hexadecimal. */
  sha256: string;
  executable: boolean;
}

export interface UnpackedSkill {
  frontmatter: SkillFrontmatter;
  /** In the byte order of their paths. */
  files: UnpackedFile[];
  warnings: SkillWarning[];
}

export type UnpackResult =
  | { kind: 'done'; skill: UnpackedSkill }
  /** The archive is no skill. */
  | { kind: 'refused'; path: string; message: string };
