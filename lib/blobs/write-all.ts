import type { FileHandle } from 'node:fs/promises';

/** Size of one write, in bytes. As much again is collected while it runs. */
const WRITE_BYTES = 512 * 1024;

/** Appends all bytes to a file; the next bytes are collected while the last ones are written. Returns their number. */
export async function writeAll(
  handle: FileHandle,
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<number> {
  let buffered: Uint8Array[] = [];
  let length = 0;
  let size = 0;
  let writing = Promise.resolve();
  const write = async () => {
    await writing;
    writing = flush(handle, buffered, length);
    // The next `await writing` throws the error.
    writing.catch(() => {});
    buffered = [];
    length = 0;
  };
  try {
    for await (const chunk of bytes) {
      buffered.push(chunk);
      length += chunk.length;
      size += chunk.length;
      if (length >= WRITE_BYTES) await write();
    }
    await write();
    await writing;
    return size;
  } finally {
    // The caller closes the file, which must not happen during a write.
    await writing.catch(() => {});
  }
}

async function flush(handle: FileHandle, chunks: Uint8Array[], length: number): Promise<void> {
  if (length === 0) return;
  const { bytesWritten } = await handle.writev(chunks);
  if (bytesWritten === length) return;
  // A nearly full disk accepts fewer bytes; the next write reports the error.
  const rest = Buffer.concat(chunks, length).subarray(bytesWritten);
  for (let from = 0; from < rest.length; )
    from += (await handle.write(rest, from, rest.length - from)).bytesWritten;
}
