import { closeSync, constants, fstatSync, read, readSync } from 'node:fs';
import { promisify } from 'node:util';
import { type Folder, openMended } from './folder.ts';

const readLater = promisify(read);
const CHUNK_BYTES = 256 * 1024;

/** A regular file, in pieces; a short one comes in one, without a detour. Throws for anything else. */
export async function* readFile(folder: Folder, name: string): AsyncGenerator<Uint8Array> {
  // Not to wait for whoever might write into a named pipe.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const fd = openMended(folder.at(name), flags);
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) throw new Error('is not a file');
    const isShort = stats.size < CHUNK_BYTES;
    for (let end = false; !end; ) {
      const buffer = Buffer.allocUnsafeSlow(isShort ? stats.size + 1 : CHUNK_BYTES);
      const bytesRead = isShort
        ? readSync(fd, buffer)
        : (await readLater(fd, buffer, 0, buffer.length, null)).bytesRead;
      if (bytesRead > 0) yield buffer.subarray(0, bytesRead);
      // A file that has grown since is read to its end all the same.
      end = bytesRead === 0 || (isShort && bytesRead <= stats.size);
    }
  } finally {
    closeSync(fd);
  }
}
