/** Splits a source into parts of exactly `bytes`, except the last. Yields at least one part, which may be empty. */
export async function* splitIntoParts(
  source: AsyncIterable<Uint8Array>,
  bytes: number,
): AsyncGenerator<Buffer> {
  let part: Uint8Array[] = [];
  const joined = () => (part.length === 1 && part[0] instanceof Buffer ? part[0] : Buffer.concat(part, size));
  let size = 0;
  for await (const chunk of source) {
    for (let from = 0; from < chunk.length; ) {
      // A full part is yielded with the first byte of the next part, so that the last part is never empty.
      if (size === bytes) {
        yield joined();
        part = [];
        size = 0;
      }
      const taken = chunk.subarray(from, from + bytes - size);
      part.push(taken);
      size += taken.length;
      from += taken.length;
    }
  }
  yield joined();
}
