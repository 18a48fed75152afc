import { crc32 } from 'node:zlib';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { SkillProblem } from '../domain/skill-problem.ts';
import { isBomb, type SkillTree } from '../domain/skill-tree.ts';
import type { EntryWriter } from './entry-writer.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** Info-ZIP's field with another name of the entry. */
const UNICODE_PATH = 0x7075;
const ENCRYPTED = 0x1 | 0x40 | 0x2000;
const STORED = 0;
const DEFLATED = 8;
/** The type and permissions of a Unix mode. */
const TYPE_MASK = 0o170000;
const FILE_TYPE = 0o100000;
const DIRECTORY_TYPE = 0o040000;
const EXECUTABLE = 0o100;

/** Unpacks a zip archive. Throws a SkillProblem, or the error of yauzl for an archive that is malformed. */
export async function unpackZip(archive: string, tree: SkillTree, writer: EntryWriter): Promise<void> {
  const options = {
    autoClose: false,
    lazyEntries: true,
    decodeStrings: false,
    validateEntrySizes: true,
  } as const;
  const zip = await openPromise(archive, options);
  try {
    for await (const entry of zip.eachEntry()) await unpackEntry(zip, entry, tree, writer);
  } finally {
    zip.close();
  }
}

async function unpackEntry(zip: ZipFile, entry: Entry, tree: SkillTree, writer: EntryWriter): Promise<void> {
  const name = nameOf(entry);
  const mode = entry.externalFileAttributes >>> 16;
  const type = mode & TYPE_MASK;
  if (type !== 0 && type !== FILE_TYPE && type !== DIRECTORY_TYPE)
    throw new SkillProblem(name, 'must be a file or directory, not a link or device');
  if (type === DIRECTORY_TYPE || name.endsWith('/')) {
    if (entry.uncompressedSize > 0)
      throw new SkillProblem(name, 'must have no bytes, because it is a directory');
    return tree.addDirectory(name);
  }
  if ((entry.generalPurposeBitFlag & ENCRYPTED) !== 0) throw new SkillProblem(name, 'must not be encrypted');
  if (entry.compressionMethod !== STORED && entry.compressionMethod !== DEFLATED)
    throw new SkillProblem(name, 'must be stored or compressed with deflate');
  const path = tree.addFile(name);
  if (path === undefined) return;
  const { fileName } = await zip.readLocalFileHeaderPromise(entry);
  if (!fileName.equals(entry.fileNameRaw))
    throw new SkillProblem(name, 'must have the same name in both headers of the archive');
  const check = (size: number) => {
    if (size > entry.uncompressedSize || isBomb(entry.compressedSize, size))
      throw new SkillProblem(path, sizeProblem(size > entry.uncompressedSize));
  };
  const executable = (mode & EXECUTABLE) !== 0;
  let checksum = 0;
  let written = 0;
  const bytes = await zip.openReadStreamPromise(entry);
  // It can fail before it is read. Reading it throws the error.
  bytes.on('error', () => {});
  const checked = (async function* () {
    for await (const chunk of bytes as AsyncIterable<Buffer>) {
      checksum = crc32(chunk, checksum);
      written += chunk.length;
      yield chunk;
    }
  })();
  await writer.write({ path, executable, check }, checked);
  if (written !== entry.uncompressedSize) throw new SkillProblem(path, sizeProblem(true));
  if (checksum !== entry.crc32) throw new SkillProblem(path, 'must have the bytes of its checksum');
}

/** Names are read as UTF-8, also without the flag that announces it. Other encodings are refused. */
function nameOf({ fileNameRaw, extraFields }: Entry): string {
  const other = extraFields.find(({ id }) => id === UNICODE_PATH)?.data.subarray(5);
  try {
    const name = utf8.decode(fileNameRaw);
    if (other && !other.equals(fileNameRaw)) throw new SkillProblem(name, 'must have one name only');
    return name;
  } catch (error) {
    if (error instanceof SkillProblem) throw error;
    throw new SkillProblem(fileNameRaw.toString('latin1'), 'must be UTF-8');
  }
}

const sizeProblem = (isFalse: boolean) =>
  isFalse
    ? 'must have the size that the archive states'
    : 'must not unpack to more than 100 times its packed size';
