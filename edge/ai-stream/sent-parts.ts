import { type Static, Type } from 'typebox';
import { refuseField } from '../../lib/errors.ts';
import { pointerStep } from '../../lib/json-schema/pointer.ts';
import { IMAGE_MEDIA_TYPES } from '../../lib/part-limits.ts';
import { createInspector, refuseProblems } from '../input/schema.ts';
import { optional } from '../schemas/common.ts';
import type { ContentParts } from '../schemas/content.ts';
import { partOfUrl } from './stored-parts.ts';

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

/** Reads a `text` or `file` part of AI SDK in a message to a session. Refuses with INVALID_REQUEST. */
export function readSentPart(part: unknown, pointer: string, sessionId: string): ContentParts[number] {
  refuseSchemaProblems(inspectSentPart(part), pointer);
  return contentPart(part as Static<typeof SentPart>, pointer, sessionId);
}

/**
 * Reads the output of a client tool that is a `file` part of AI SDK, or a list of `text` and `file` parts. Undefined for other
 * outputs. `pointer` is the pointer of the output.
 */
export function readFileParts(output: unknown, pointer: string, sessionId: string): ContentParts | undefined {
  if (isFilePart(output)) return [readSentPart(output, pointer, sessionId)];
  if (!Array.isArray(output) || !output.some(isFilePart)) return undefined;
  if (!output.every((part) => isFilePart(part) || part?.type === 'text')) return undefined;
  return output.map((part, index) => readSentPart(part, pointer + pointerStep(index), sessionId));
}

function isFilePart(part: unknown): boolean {
  const { type, mediaType, url } = (part ?? {}) as Record<string, unknown>;
  return type === 'file' && typeof mediaType === 'string' && typeof url === 'string';
}

function contentPart(
  part: Static<typeof SentPart>,
  pointer: string,
  sessionId: string,
): ContentParts[number] {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const { mediaType, filename, url } = part;
  const head = DATA_URL.exec(url)?.[0];
  const sha256 = partOfUrl(url, sessionId);
  if (head === undefined && sha256 === undefined)
    throw refuseField(
      `${pointer}/url`,
      'must be a data: URL with Base64, or the URL of a part of the session',
    );
  const source = sha256 === undefined ? { data: url.slice(head?.length) } : { sha256 };
  const file = { ...source, ...(filename && { name: filename }) };
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
