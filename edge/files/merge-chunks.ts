/** Chunks of at least this length are sent as one message each; see docs/adr/0022. */
const MIN_CHUNK_BYTES = 32 * 1024;

/** Merges small chunks, so that messages are not mostly overhead. Long chunks pass unchanged. */
export async function* mergeSmallChunks(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let buffered: Buffer[] = [];
  let length = 0;
  for await (const bytes of source) {
    if (length === 0 && bytes.length >= MIN_CHUNK_BYTES) {
      yield bytes;
      continue;
    }
    buffered.push(bytes);
    length += bytes.length;
    if (length < MIN_CHUNK_BYTES) continue;
    yield Buffer.concat(buffered, length);
    buffered = [];
    length = 0;
  }
  if (length > 0) yield Buffer.concat(buffered, length);
}
