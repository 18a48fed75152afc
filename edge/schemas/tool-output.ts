import { mapPointers } from '../../lib/errors.ts';
import type { AttachmentList } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { createCheck } from '../input/schema.ts';
import { type ContentParts, MessageContent, readContent } from './content.ts';

/** The output of a tool call as services exchange it. */
export interface ReadOutput {
  outputJson: string;
  /** The sources of its image and file parts. Undefined for an output without any. */
  attachments: AttachmentList | undefined;
  /** The output was one part, which services get as a list. */
  isSinglePart: boolean;
}

const PART_TYPES: readonly unknown[] = ['text', 'image', 'file'];
const SOURCES = ['path', 'data', 'upload_id'];
const checkContent = createCheck(MessageContent);

/**
 * Reads the output of a tool call: any JSON value. A list of content parts with an image or a file is read like the content
 * of a message, and so is one image or file part. `pointer` is its place in the body. Refuses with INVALID_REQUEST when
 * such a part is invalid.
 */
export function readToolOutput(output: unknown, pointer: string): ReadOutput {
  const isSinglePart = isBytesPart(output);
  const parts = isSinglePart ? [output] : output;
  if (!hasBytes(parts)) return { outputJson: JSON.stringify(output), attachments: undefined, isSinglePart };
  try {
    checkContent(parts);
  } catch (error) {
    throw mapPointers(error, (at) => outputPointer(`/content${at}`, pointer, isSinglePart));
  }
  return outputOfParts(parts, pointer, isSinglePart);
}

/** Like `readToolOutput`, for checked parts. */
export function outputOfParts(parts: ContentParts, pointer: string, isSinglePart: boolean): ReadOutput {
  try {
    const { contentJson, attachments } = readContent(parts, '/content');
    return { outputJson: contentJson, attachments, isSinglePart };
  } catch (error) {
    throw mapPointers(error, (at) => outputPointer(at, pointer, isSinglePart));
  }
}

/** The pointer in a body for a pointer of a service, which names the content `/content`. */
export function outputPointer(at: string, pointer: string, isSinglePart: boolean): string {
  return at.replace(isSinglePart ? /^\/content(\/0)?(?=\/|$)/ : /^\/content(?=\/|$)/, pointer);
}

/** Whether every item is a content part and one of them is an image or a file. */
function hasBytes(output: unknown): output is ContentParts {
  if (!Array.isArray(output)) return false;
  const types = output.map((part) => (part as { type?: unknown } | null)?.type);
  return types.every((type) => PART_TYPES.includes(type)) && types.some((type) => type !== 'text');
}

/** Whether an object is an image or a file part with a source of bytes. Other objects are outputs as they are. */
function isBytesPart(output: unknown): boolean {
  if (typeof output !== 'object' || output === null || Array.isArray(output)) return false;
  const { type } = output as { type?: unknown };
  return (type === 'image' || type === 'file') && SOURCES.some((source) => Object.hasOwn(output, source));
}
