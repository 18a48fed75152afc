import { StringDecoder } from 'node:string_decoder';
import type { JSONValue } from '@ai-sdk/provider';

/** Size limit of one tool result, in bytes of UTF-8. */
const MAX_OUTPUT_BYTES = 256 * 1024;

/**
 * Converts the return value of a tool to text or JSON as the journal stores it. Output over the limit is cut and
 * ends with a note; JSON that is cut becomes text. Throws for values that JSON cannot represent.
 */
export function toJsonOutput(value: unknown): JSONValue {
  if (typeof value === 'string') return truncate(value);
  const text: string | undefined = JSON.stringify(value);
  if (text === undefined) return null;
  return Buffer.byteLength(text) > MAX_OUTPUT_BYTES ? truncate(text) : JSON.parse(text);
}

function truncate(text: string): string {
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_OUTPUT_BYTES) return text;
  const kept = new StringDecoder('utf8').write(Buffer.from(text).subarray(0, MAX_OUTPUT_BYTES));
  return `${kept}\n[The output was cut: it has ${bytes} bytes, the limit is ${MAX_OUTPUT_BYTES} bytes.]`;
}
