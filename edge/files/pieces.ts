/** What is as long as this is worth a message of its own; see docs/adr/0022. */
const WORTH_BYTES = 32 * 1024;

/** Puts small pieces together, so that no message carries next to nothing. What is long enough goes on as it came. */
export async function* pieces(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let gathered: Buffer[] = [];
  let length = 0;
  for await (const bytes of source) {
    if (length === 0 && bytes.length >= WORTH_BYTES) {
      yield bytes;
      continue;
    }
    gathered.push(bytes);
    length += bytes.length;
    if (length < WORTH_BYTES) continue;
    yield Buffer.concat(gathered, length);
    gathered = [];
    length = 0;
  }
  if (length > 0) yield Buffer.concat(gathered, length);
}
