import { type Static, Type } from 'typebox';
import { refuseField } from '../../lib/errors.ts';
import { pointerStep } from '../../lib/json-schema/pointer.ts';
import { IMAGE_MEDIA_TYPES } from '../../lib/part-limits.ts';
import { createInspector, refuseProblems } from '../input/schema.ts';
import { optional } from '../schemas/common.ts';
import type { MessageContent } from '../schemas/content.ts';

type Parts = Exclude<Static<typeof MessageContent>, string>;

const SentPart = Type.Union([
  Type.Object({ type: Type.Literal('text'), text: Type.String() }),
  Type.Object({
    type: Type.Literal('file'),
    mediaType: Type.String({ maxLength: 255 }),
    filename: optional(Type.String({ maxLength: 255 })),
    url: Type.String(),
  }),
]);
const DATA_URL = /^data:[^,]*;base64,/i;

const inspectSentPart = createInspector(SentPart);

/** Reads a `text` or `file` part of AI SDK. Refuses with INVALID_REQUEST. */
export function readSentPart(part: unknown, pointer: string): Parts[number] {
  refuseSchemaProblems(inspectSentPart(part), pointer);
  return contentPart(part as Static<typeof SentPart>, pointer);
}

/**
 * Converts the `text` and `file` parts of AI SDK in the output of a client tool. Returns other outputs unchanged. `pointer` is
 * the pointer of the output.
 */
export function convertFileParts(output: unknown, pointer: string): unknown {
  if (!Array.isArray(output) || !output.some(isFilePart)) return output;
  if (!output.every((part) => isFilePart(part) || part?.type === 'text')) return output;
  return output.map((part, index) => readSentPart(part, pointer + pointerStep(index)));
}

function isFilePart(part: unknown): boolean {
  const { type, mediaType, url } = (part ?? {}) as Record<string, unknown>;
  return type === 'file' && typeof mediaType === 'string' && typeof url === 'string';
}

function contentPart(part: Static<typeof SentPart>, pointer: string): Parts[number] {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const { mediaType, filename, url } = part;
  const head = DATA_URL.exec(url)?.[0];
  if (head === undefined) throw refuseField(`${pointer}/url`, 'must be a data: URL with Base64');
  const file = { data: url.slice(head.length), ...(filename && { name: filename }) };
  const image = IMAGE_MEDIA_TYPES.find((type) => type === mediaType);
  return image
    ? { type: 'image', media_type: image, ...file }
    : { type: 'file', media_type: mediaType, ...file };
}

/** Refuses with INVALID_REQUEST if there is a problem. `pointer` is the pointer of the inspected value. */
export function refuseSchemaProblems(problems: ReturnType<typeof inspectSentPart>, pointer: string): void {
  if (problems.length === 0) return;
  throw refuseProblems(problems.map((problem) => ({ ...problem, pointer: pointer + problem.pointer })));
}
