import { createReadStream, statSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract, type Header } from 'tar-stream';
import { SKILL_LIMITS } from '../domain/skill-limits.ts';
import { SkillProblem } from '../domain/skill-problem.ts';
import { isBomb, type SkillTree } from '../domain/skill-tree.ts';
import type { EntryWriter } from './entry-writer.ts';

const EXECUTABLE = 0o100;
/** Bytes of headers that may come between two entries. tar-stream keeps them in memory. */
const MAX_HEADER_BYTES = 256 * 1024;
/** Headers and padding of all entries, and the padding at the end of an archive. */
const MAX_OVERHEAD = SKILL_LIMITS.entries * 4 * 1024 + 1024 * 1024;

/** Unpacks a tar archive. Throws a SkillProblem, or the error of tar-stream or zlib for an archive that is malformed. */
export async function unpackTar(
  archive: string,
  isCompressed: boolean,
  tree: SkillTree,
  writer: EntryWriter,
): Promise<void> {
  const archiveBytes = statSync(archive).size;
  const reader = extract();
  /** Bytes since the last entry or its last bytes. */
  let unclaimed = 0;
  let total = 0;
  const guard = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      total += chunk.length;
      if (isCompressed && isBomb(archiveBytes, total))
        throw new SkillProblem('', 'must not unpack to more than 100 times its packed size');
      if (total > SKILL_LIMITS.bytes + MAX_OVERHEAD)
        throw new SkillProblem('', 'must have at most 100 MiB when unpacked');
      unclaimed += chunk.length;
      if (unclaimed > MAX_HEADER_BYTES && !isZero(chunk))
        throw new SkillProblem('', 'must have headers of at most 256 KiB');
      yield chunk;
    }
  };
  const source = createReadStream(archive);
  const gunzip = createGunzip();
  // It can fail after the pipeline has ended.
  gunzip.on('error', () => {});
  const feeding = isCompressed ? pipeline(source, gunzip, guard, reader) : pipeline(source, guard, reader);
  // The reader fails, too, and its error is the one that is thrown.
  feeding.catch(() => {});
  for await (const entry of reader) {
    unclaimed = 0;
    const claimed = (async function* () {
      for await (const chunk of entry as AsyncIterable<Buffer>) {
        unclaimed = 0;
        yield chunk;
      }
    })();
    await unpackEntry(entry.header, claimed, tree, writer);
    unclaimed = 0;
  }
  await feeding;
}

async function unpackEntry(
  { name, type, mode = 0 }: Header,
  bytes: AsyncIterable<Buffer>,
  tree: SkillTree,
  writer: EntryWriter,
): Promise<void> {
  if (type === 'directory') {
    tree.addDirectory(name);
    return writer.skip(name, bytes);
  }
  if (type !== 'file' && type !== 'contiguous-file')
    throw new SkillProblem(name, 'must be a file or directory, not a link or device');
  const path = tree.addFile(name);
  if (path === undefined) return writer.skip(name, bytes);
  await writer.write({ path, executable: (mode & EXECUTABLE) !== 0 }, bytes);
}

const isZero = (chunk: Buffer): boolean => chunk.every((byte) => byte === 0);
