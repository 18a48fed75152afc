import type { SkillArchive } from '../../../api/skill-archive.ts';

export const MAX_ARCHIVE_BYTES = 20 * 1024 * 1024;
/** Names and types for the file dialog. */
export const ACCEPTED_FILES =
  '.zip,.skill,.tar,.tar.gz,.tgz,.gz,application/zip,application/x-tar,application/gzip';

const TAR_MAGIC = 'ustar';
const TAR_MAGIC_AT = 257;
const HEAD_BYTES = TAR_MAGIC_AT + TAR_MAGIC.length;

/** Returns the media type of an archive by its first bytes; undefined for other files. Old tar archives count by name. */
export function archiveTypeOf(name: string, head: Uint8Array): SkillArchive['mediaType'] | undefined {
  const begins = (...bytes: number[]) => bytes.every((byte, index) => head[index] === byte);
  // "PK" and a local file header, or the end record of an empty archive.
  if (begins(0x50, 0x4b, 0x03, 0x04) || begins(0x50, 0x4b, 0x05, 0x06)) return 'application/zip';
  if (begins(0x1f, 0x8b)) return 'application/gzip';
  const magic = String.fromCharCode(...head.subarray(TAR_MAGIC_AT, HEAD_BYTES));
  return magic === TAR_MAGIC || name.toLowerCase().endsWith('.tar') ? 'application/x-tar' : undefined;
}

/** Returns the archive, or a sentence that says why the file cannot be sent. */
export async function checkArchive(file: File): Promise<SkillArchive | string> {
  if (file.size > MAX_ARCHIVE_BYTES) return 'The archive must have at most 20 MiB.';
  const head = await file
    .slice(0, HEAD_BYTES)
    .arrayBuffer()
    .catch(() => undefined);
  if (head === undefined) return 'The browser cannot read the file. Select it again.';
  const mediaType = archiveTypeOf(file.name, new Uint8Array(head));
  if (mediaType === undefined) return 'The file is no zip, tar or tar.gz archive.';
  return { file, mediaType };
}
