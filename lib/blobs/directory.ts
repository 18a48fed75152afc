import { constants } from 'node:fs';
import { access, type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { BlobMissing, type Blobs, checkKey, type ListedBlob, newKey, type Range } from './blobs.ts';
import { asRefusal, codeOf } from './failure.ts';
import { Tapped } from './tapped.ts';
import { writeAll } from './writing.ts';

const PIECE_BYTES = 1024 * 1024;

/**
 * Keeps objects as files below a directory that no other process uses: `objects/ab/ab…`, where a file appears whole
 * and only once it is on the disk, and `drafts` for those that are being written.
 */
export async function openDirectory(directory: string): Promise<Blobs> {
  const objects = join(directory, 'objects');
  const drafts = join(directory, 'drafts');
  const folders = new Set<string>();
  /** Drafts on which somebody is working, whatever the clocks say of their age. */
  const underway = new Set<string>();

  await mkdir(objects, { recursive: true, mode: 0o700 });
  // Whoever wrote there before has ended without ending its work.
  await rm(drafts, { recursive: true, force: true });
  await mkdir(drafts, { mode: 0o700 });
  await synced(directory);

  const folderOf = (key: string) => join(objects, key.slice(0, 2));
  const pathOf = (key: string) => join(folderOf(key), checkKey(key));

  /** What a file lies in has to last as well. */
  async function makeFolder(folder: string): Promise<void> {
    if (folders.has(folder)) return;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await synced(objects);
    folders.add(folder);
  }

  async function place(draft: string, key: string): Promise<void> {
    const folder = folderOf(key);
    await makeFolder(folder);
    await rename(draft, pathOf(key));
    await synced(folder);
  }

  return {
    about: `files below ${directory}`,

    async write(bytes, { key = newKey(), signal } = {}) {
      const draft = join(drafts, checkKey(key));
      const tapped = new Tapped(bytes, signal);
      underway.add(key);
      try {
        const size = await writeFile(draft, tapped);
        await place(draft, key);
        return { key, size };
      } catch (error) {
        await rm(draft, { force: true }).catch(() => {});
        throw tapped.failure ? tapped.failure.error : asRefusal(error, signal);
      } finally {
        underway.delete(key);
      }
    },

    async *read(key, range, signal) {
      const handle = await opened(pathOf(key), key);
      try {
        yield* pieces(handle, range ?? { offset: 0 }, signal);
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

    async *list(after = '') {
      for (const name of await names(objects)) {
        if (name >= after.slice(0, 2)) yield* listed(join(objects, name), after);
      }
    },

    async tidy(before) {
      let removed = 0;
      for (const name of await names(drafts)) {
        const draft = join(drafts, name);
        const found = await stat(draft).catch(() => undefined);
        if (!found || found.mtime >= before || underway.has(name)) continue;
        await rm(draft, { force: true });
        removed++;
      }
      return removed;
    },

    async check() {
      await access(drafts, constants.R_OK | constants.W_OK | constants.X_OK).catch((error: unknown) => {
        throw asRefusal(error);
      });
    },

    async close() {},
  };
}

async function writeFile(path: string, bytes: AsyncIterable<Uint8Array>): Promise<number> {
  const handle = await open(path, 'wx', 0o600);
  try {
    const size = await writeAll(handle, bytes);
    await handle.sync();
    return size;
  } finally {
    await handle.close();
  }
}

async function opened(path: string, key: string): Promise<FileHandle> {
  try {
    return await open(path, constants.O_RDONLY);
  } catch (error) {
    throw codeOf(error) === 'ENOENT' ? new BlobMissing(key) : asRefusal(error);
  }
}

async function* pieces(
  handle: FileHandle,
  { offset, length = Number.POSITIVE_INFINITY }: Range,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  for (let position = offset, left = length; left > 0; ) {
    signal?.throwIfAborted();
    const buffer = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, left));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    position += bytesRead;
    left -= bytesRead;
  }
}

async function* listed(folder: string, after: string): AsyncGenerator<ListedBlob> {
  for (const key of await names(folder)) {
    if (key <= after) continue;
    // It may have been deleted since.
    const found = await stat(join(folder, key)).catch(() => undefined);
    if (found) yield { key, size: found.size, writtenAt: found.mtime };
  }
}

async function names(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    throw asRefusal(error);
  }
}

/** A name in a directory lasts once the directory is on the disk. */
async function synced(directory: string): Promise<void> {
  const handle = await open(directory, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
