import { StringDecoder } from 'node:string_decoder';

interface Line {
  /** From 1. */
  number: number;
  /** Without the line break; only the beginning of a line that is too long. */
  text: string;
  isCut: boolean;
}

/**
 * Splits streamed text into lines. Each line is cut at `maxChars` UTF-16 units, which bounds the memory for a file
 * without line breaks. Text after the last line break is a line unless it is empty.
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

/** The number of bytes that are checked for a NUL. */
const PROBE_BYTES = 8_192;

/** Whether there is a NUL byte near the beginning, which text files do not have. */
export function looksBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, PROBE_BYTES).includes(0);
}
