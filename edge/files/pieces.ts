/** How many bytes travel together. Longer messages gain nothing, shorter ones cost more; see docs/adr/0022. */
const PIECE_BYTES = 256 * 1024;

/** Puts what comes in small pieces together into larger ones. */
export async function* pieces(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let gathered: Buffer[] = [];
  let length = 0;
  for await (const bytes of source) {
    gathered.push(bytes);
    length += bytes.length;
    if (length < PIECE_BYTES) continue;
    yield gathered.length === 1 ? bytes : Buffer.concat(gathered, length);
    gathered = [];
    length = 0;
  }
  if (length > 0) yield Buffer.concat(gathered, length);
}
