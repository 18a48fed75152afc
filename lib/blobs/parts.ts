/** Cuts a source into parts of exactly `bytes`, but for the last one. There is always one, which may be empty. */
export async function* partsOf(source: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Buffer> {
  let part: Uint8Array[] = [];
  const joined = () => (part.length === 1 && part[0] instanceof Buffer ? part[0] : Buffer.concat(part, size));
  let size = 0;
  for await (const piece of source) {
    for (let from = 0; from < piece.length; ) {
      // A full part goes out with the first byte of the next one, so that the last is never empty.
      if (size === bytes) {
        yield joined();
        part = [];
        size = 0;
      }
      const taken = piece.subarray(from, from + bytes - size);
      part.push(taken);
      size += taken.length;
      from += taken.length;
    }
  }
  yield joined();
}
