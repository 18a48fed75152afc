import type { FileHandle } from 'node:fs/promises';

/** What is written in one go. As much again comes in meanwhile. */
const WRITE_BYTES = 512 * 1024;

/** Writes all that comes to the end of a file, while more of it is on its way. Gives the number of bytes. */
export async function writeAll(handle: FileHandle, bytes: AsyncIterable<Uint8Array>): Promise<number> {
  let gathered: Uint8Array[] = [];
  let length = 0;
  let size = 0;
  let writing = Promise.resolve();
  const write = async () => {
    await writing;
    writing = flush(handle, gathered, length);
    // Whoever waits for it hears of it.
    writing.catch(() => {});
    gathered = [];
    length = 0;
  };
  try {
    for await (const piece of bytes) {
      gathered.push(piece);
      length += piece.length;
      size += piece.length;
      if (length >= WRITE_BYTES) await write();
    }
    await write();
    await writing;
    return size;
  } finally {
    // Nobody closes a file that is written to.
    await writing.catch(() => {});
  }
}

async function flush(handle: FileHandle, pieces: Uint8Array[], length: number): Promise<void> {
  if (length === 0) return;
  const { bytesWritten } = await handle.writev(pieces);
  if (bytesWritten === length) return;
  // A disk that is nearly full takes less than it is given, and says why the next time.
  const rest = Buffer.concat(pieces, length).subarray(bytesWritten);
  for (let from = 0; from < rest.length; )
    from += (await handle.write(rest, from, rest.length - from)).bytesWritten;
}
