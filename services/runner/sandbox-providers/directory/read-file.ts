import { closeSync, constants, fstatSync, read, readSync } from 'node:fs';
import { promisify } from 'node:util';
import { SandboxError } from '../../sandbox/sandbox-error.ts';
import { type OpenDirectory, openRestoringAccess } from './open-directory.ts';

const readAsync = promisify(read);
const CHUNK_BYTES = 256 * 1024;

/** Returns the content of a regular file in chunks; a file below 256 KiB is one chunk. Throws for other entries. */
export async function* readFile(directory: OpenDirectory, name: string): AsyncGenerator<Uint8Array> {
  // O_NONBLOCK: opening a named pipe must not wait for a writer.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const fd = openRestoringAccess(directory.pathOf(name), flags);
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) throw new SandboxError('The path is not a regular file.');
    const isShort = stats.size < CHUNK_BYTES;
    for (let end = false; !end; ) {
      const buffer = Buffer.allocUnsafeSlow(isShort ? stats.size + 1 : CHUNK_BYTES);
      const bytesRead = isShort
        ? readSync(fd, buffer)
        : (await readAsync(fd, buffer, 0, buffer.length, null)).bytesRead;
      if (bytesRead > 0) yield buffer.subarray(0, bytesRead);
      // A short file that has grown since fstat is read to its end.
      end = bytesRead === 0 || (isShort && bytesRead <= stats.size);
    }
  } finally {
    closeSync(fd);
  }
}
