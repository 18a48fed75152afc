import { StringDecoder } from 'node:string_decoder';

export interface Line {
  /** From 1. */
  number: number;
  /** Without its end; the beginning of a line that is too long. */
  text: string;
  isCut: boolean;
}

/**
 * The lines of a text that comes in pieces, each cut at `maxChars` UTF-16 units, so that a line without an end takes
 * no memory. What follows the last line break is a line unless it is empty.
 */
export async function* linesOf(bytes: AsyncIterable<Uint8Array>, maxChars: number): AsyncGenerator<Line> {
  const decoder = new StringDecoder('utf8');
  let line: Line = { number: 1, text: '', isCut: false };
  const add = (text: string) => {
    line.text += text.slice(0, maxChars - line.text.length);
    line.isCut ||= line.text.length === maxChars && text.length > 0;
  };
  const ended = () => {
    const done = { ...line, text: line.text.replace(/\r$/, '').toWellFormed() };
    line = { number: line.number + 1, text: '', isCut: false };
    return done;
  };
  for await (const chunk of bytes) {
    const text = decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    let begin = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', begin)) {
      add(text.slice(begin, end));
      yield ended();
      begin = end + 1;
    }
    add(text.slice(begin));
  }
  add(decoder.end());
  if (line.text !== '') yield ended();
}

/** How much of a file is looked at to see whether it is text. */
export const PROBE_BYTES = 8_192;

/** No text has a NUL near its beginning. */
export function looksBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, PROBE_BYTES).includes(0);
}
