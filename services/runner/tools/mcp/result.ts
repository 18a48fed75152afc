import { StringDecoder } from 'node:string_decoder';
import type { JSONValue } from '@ai-sdk/provider';
import type { ToolCallResult } from '../../../../lib/mcp/open.ts';
import type { JsonObject } from '../../../../lib/mcp-catalogue/catalogue.ts';

/** Bytes in the result of a tool. */
export interface ResultFile {
  /** As the server names it. */
  mediaType: string;
  data: Buffer;
}

export interface ReadResult {
  text: string;
  files: ResultFile[];
}

/** Limit of the text of a result as JSON, in UTF-8 bytes. The rest of a longer one is in a file of the workspace. */
const MAX_TEXT_BYTES = 240 * 1024;

/** The text and the files of a result. Links are text and are never followed. Structured content is used without text. */
export function readResult({ content, structuredContent }: ToolCallResult): ReadResult {
  const texts: string[] = [];
  const files: ResultFile[] = [];
  for (const block of content) {
    const file = fileOf(block);
    if (file) files.push(file);
    else texts.push(textOf(block));
  }
  const text = texts.filter((one) => one !== '').join('\n');
  if (text !== '' || structuredContent === undefined) return { text, files };
  return { text: JSON.stringify(structuredContent), files };
}

function fileOf(block: JsonObject): ResultFile | undefined {
  const { type, data, mimeType, resource } = block;
  if (type === 'image' || type === 'audio') return decoded(data, mimeType);
  if (type !== 'resource' || typeof resource !== 'object' || resource === null) return undefined;
  const { blob, mimeType: resourceType } = resource as JsonObject;
  return typeof blob === 'string' ? decoded(blob, resourceType) : undefined;
}

function decoded(base64: unknown, mediaType: unknown): ResultFile {
  const data = Buffer.from(typeof base64 === 'string' ? base64 : '', 'base64');
  return { data, mediaType: typeof mediaType === 'string' ? mediaType : '' };
}

function textOf(block: JsonObject): string {
  const { type, text, uri, name, description, resource } = block;
  const string = (value: unknown) => (typeof value === 'string' ? value : '');
  if (type === 'text') return string(text);
  if (type === 'resource_link')
    return ['Resource:', string(name), string(uri), string(description)]
      .filter((one) => one !== '')
      .join(' ');
  if (type === 'resource' && typeof resource === 'object' && resource !== null) {
    const { uri: address, text: inner } = resource as JsonObject;
    return `Resource ${string(address)}:\n${string(inner)}`;
  }
  return `[content of the unknown type ${JSON.stringify(type)}]`;
}

/** Cuts a text so that it fits into a result as JSON. Undefined for a text that fits. */
export function cutText(text: string): { shown: string; bytes: number } | undefined {
  const size = (part: string) => Buffer.byteLength(JSON.stringify(part satisfies JSONValue));
  if (size(text) <= MAX_TEXT_BYTES) return undefined;
  const bytes = Buffer.from(text);
  let length = Math.min(bytes.length, MAX_TEXT_BYTES);
  for (;;) {
    const shown = new StringDecoder('utf8').write(bytes.subarray(0, length));
    const excess = size(shown) - MAX_TEXT_BYTES;
    if (excess <= 0) return { shown, bytes: bytes.length };
    // Escapes make the text longer, up to six bytes for one.
    length -= Math.max(1, Math.ceil(excess / 6));
  }
}
