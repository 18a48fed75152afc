import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { BlobMissing, type Blobs, type ByteRange, checkKey, type ListedBlob, newKey } from './blobs.ts';
import { asRefusal, codeOf } from './failure.ts';
import { Leftovers } from './leftovers.ts';
import { ObservedSource } from './observed-source.ts';
import { writeAll } from './write-all.ts';

const CHUNK_BYTES = 1024 * 1024;
/** The draft with which the store is checked. */
const CHECK_FILE = 'check';
/** The size of one block of common file systems: smaller files can fit into the metadata of a full one. */
const CHECK_BYTES = 4_096;
/** A check within this time of a successful one succeeds without a write. */
const CHECK_AGE_MS = 1_000;

interface DirectoryOptions {
  /** Opens a file to write. Default: that of the file system. */
  openFile?: typeof open;
}

/**
 * Stores objects as files below a directory that no other process uses. A file appears in `objects/ab/ab…` complete and
 * only after it has been synced to the disk. Files that are being written are in `drafts`.
 */
export async function openDirectory(
  directory: string,
  { openFile = open }: DirectoryOptions = {},
): Promise<Blobs> {
  const objects = join(directory, 'objects');
  const drafts = join(directory, 'drafts');
  const folders = new Set<string>();
  /** Drafts of open writes. They are never deleted, even when clocks disagree about their age. */
  const openDrafts = new Set([CHECK_FILE]);

  const leftovers = new Leftovers(async (key) => {
    await rm(join(drafts, key), { force: true });
    await rm(pathOf(key), { force: true });
  });
  let checking: Promise<void> | undefined;
  let checkedAt = Number.NEGATIVE_INFINITY;

  await mkdir(objects, { recursive: true, mode: 0o700 });
  // Drafts that exist now belong to a process that ended during a write.
  await rm(drafts, { recursive: true, force: true });
  await mkdir(drafts, { mode: 0o700 });
  await syncDirectory(directory);

  const folderOf = (key: string) => join(objects, key.slice(0, 2));
  const pathOf = (key: string) => join(folderOf(key), checkKey(key));

  /** Creates the directory and syncs its parent, so that it survives a power failure, too. */
  async function makeDirectory(folder: string): Promise<void> {
    if (folders.has(folder)) return;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await syncDirectory(objects);
    folders.add(folder);
  }

  async function publish(draft: string, key: string): Promise<void> {
    const folder = folderOf(key);
    await makeDirectory(folder);
    await rename(draft, pathOf(key));
    await syncDirectory(folder);
  }

  /** Writes, reads and deletes a small file. */
  async function probe(): Promise<void> {
    const path = join(drafts, CHECK_FILE);
    const bytes = randomBytes(CHECK_BYTES);
    try {
      await rm(path, { force: true });
      await writeFile(openFile, path, [bytes], { isSynced: false });
      if (!bytes.equals(await readFile(path)))
        throw new Error('The file system returned other bytes than those that were written.');
    } finally {
      await rm(path, { force: true }).catch(() => {});
    }
    checkedAt = performance.now();
  }

  return {
    description: `files below ${directory}`,

    async write(bytes, { key = newKey(), signal } = {}) {
      const draft = join(drafts, checkKey(key));
      const source = new ObservedSource(bytes, signal);
      openDrafts.add(key);
      try {
        const size = await writeFile(openFile, draft, source, { isSynced: true });
        await publish(draft, key);
        return { key, size };
      } catch (error) {
        // The rename may have succeeded although the directory could not be synced.
        await rm(draft, { force: true }).catch(() => {});
        leftovers.add(key);
        checkedAt = Number.NEGATIVE_INFINITY;
        throw source.failure ? source.failure.error : asRefusal(error, signal);
      } finally {
        openDrafts.delete(key);
      }
    },

    async *read(key, range, signal) {
      const handle = await openObject(pathOf(key), key);
      try {
        yield* readChunks(handle, range ?? { offset: 0 }, signal);
      } catch (error) {
        throw asRefusal(error, signal);
      } finally {
        await handle.close();
      }
    },

    async sizeOf(key) {
      try {
        return (await stat(pathOf(key))).size;
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return undefined;
        throw asRefusal(error);
      }
    },

    async delete(key) {
      await rm(pathOf(key), { force: true }).catch((error: unknown) => {
        throw asRefusal(error);
      });
    },

    discard: (key) => leftovers.add(checkKey(key)),

    async *list(after = '') {
      for (const name of await sortedNames(objects)) {
        if (name >= after.slice(0, 2)) yield* listDirectory(join(objects, name), after);
      }
    },

    async deleteIncompleteWrites(before) {
      let deleted = 0;
      for (const name of await sortedNames(drafts)) {
        const draft = join(drafts, name);
        const found = await stat(draft).catch(() => undefined);
        if (!found || found.mtime >= before || openDrafts.has(name)) continue;
        await rm(draft, { force: true });
        deleted++;
      }
      return deleted;
    },

    // A file system that hangs gets one check.
    async check() {
      if (performance.now() - checkedAt < CHECK_AGE_MS) return;
      checking ??= probe()
        .catch((error: unknown) => {
          throw asRefusal(error);
        })
        .finally(() => {
          checking = undefined;
        });
      await checking;
    },

    async close() {
      leftovers.close();
    },
  };
}

async function writeFile(
  openFile: typeof open,
  path: string,
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { isSynced }: { isSynced: boolean },
): Promise<number> {
  const handle = await openFile(path, 'wx', 0o600);
  try {
    const size = await writeAll(handle, bytes);
    if (isSynced) await handle.sync();
    return size;
  } finally {
    await handle.close();
  }
}

async function openObject(path: string, key: string): Promise<FileHandle> {
  try {
    return await open(path, constants.O_RDONLY);
  } catch (error) {
    throw codeOf(error) === 'ENOENT' ? new BlobMissing(key) : asRefusal(error);
  }
}

async function* readChunks(
  handle: FileHandle,
  { offset, length = Number.POSITIVE_INFINITY }: ByteRange,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  for (let position = offset, left = length; left > 0; ) {
    signal?.throwIfAborted();
    const buffer = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, left));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    position += bytesRead;
    left -= bytesRead;
  }
}

async function* listDirectory(folder: string, after: string): AsyncGenerator<ListedBlob> {
  for (const key of await sortedNames(folder)) {
    if (key <= after) continue;
    // A concurrent call may have deleted it.
    const found = await stat(join(folder, key)).catch(() => undefined);
    if (found) yield { key, size: found.size, writtenAt: found.mtime };
  }
}

async function sortedNames(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    throw asRefusal(error);
  }
}

/** A file name survives a power failure once its directory has been synced. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
