import type { Static } from 'typebox';
import { mapPointers } from '../../lib/errors.ts';
import type { AttachmentList } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { createCheck } from '../input/schema.ts';
import { MessageContent, readContent } from './content.ts';

/** The output of a tool call as services exchange it. */
interface ReadOutput {
  outputJson: string;
  /** The sources of its image and file parts. Undefined for an output without any. */
  attachments: AttachmentList | undefined;
}

type Parts = Exclude<Static<typeof MessageContent>, string>;

const PART_TYPES: readonly unknown[] = ['text', 'image', 'file'];
const checkContent = createCheck(MessageContent);

/**
 * Reads the output of a tool call: any JSON value. A list of content parts with an image or a file is read like the content
 * of a message. `pointer` is its place in the body. Refuses with INVALID_REQUEST when such a part is invalid.
 */
export function readToolOutput(output: unknown, pointer: string): ReadOutput {
  if (!hasBytes(output)) return { outputJson: JSON.stringify(output), attachments: undefined };
  try {
    checkContent(output);
  } catch (error) {
    throw mapPointers(error, (at) => pointer + at);
  }
  const { contentJson, attachments } = readContent(output, pointer);
  return { outputJson: contentJson, attachments };
}

/** Whether every item is a content part and one of them is an image or a file. */
function hasBytes(output: unknown): output is Parts {
  if (!Array.isArray(output)) return false;
  const types = output.map((part) => (part as { type?: unknown } | null)?.type);
  return types.every((type) => PART_TYPES.includes(type)) && types.some((type) => type !== 'text');
}
