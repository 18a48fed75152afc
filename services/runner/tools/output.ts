import { StringDecoder } from 'node:string_decoder';
import type { JSONValue } from '@ai-sdk/provider';

/** What a model is told of one call, in bytes of UTF-8. */
export const MAX_OUTPUT_BYTES = 256 * 1024;

/**
 * What a tool gave, as text or JSON, as it will be read from the journal. What is too long is cut, and says so;
 * JSON that is cut is text. Throws when it is nothing that JSON can hold.
 */
export function outputOf(value: unknown): JSONValue {
  if (typeof value === 'string') return cut(value);
  const text: string | undefined = JSON.stringify(value);
  if (text === undefined) return null;
  return Buffer.byteLength(text) > MAX_OUTPUT_BYTES ? cut(text) : JSON.parse(text);
}

function cut(text: string): string {
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_OUTPUT_BYTES) return text;
  const kept = new StringDecoder('utf8').write(Buffer.from(text).subarray(0, MAX_OUTPUT_BYTES));
  return `${kept}\n[The output was cut: it has ${bytes} bytes, and ${MAX_OUTPUT_BYTES} are the most that is kept.]`;
}
