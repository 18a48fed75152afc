import { type Static, Type } from 'typebox';
import type { ErrorCode } from '../../lib/error-codes.ts';
import { mapPointers, refuseField } from '../../lib/errors.ts';
import { IMAGE_MEDIA_TYPES, MAX_PARTS } from '../../lib/part-limits.ts';
import type { Attachment, AttachmentList } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { decodeBase64 } from '../input/base64.ts';
import { type InlineData, NO_INLINE_DATA } from '../input/inline-data.ts';
import { closed, optional, text } from './common.ts';

const TextPart = closed(
  { type: Type.Literal('text'), text: text('The text.') },
  { title: 'TextPart', description: 'A text part of a message.' },
);

/** The source of the bytes: exactly one of these members. */
const SOURCE = {
  path: optional(text('A file of the workspace of the session, as it is now.', { examples: ['chart.png'] })),
  data: optional(
    Type.String({
      contentEncoding: 'base64',
      description: 'The bytes in Base64, at most 5 MiB in one part and 7 MiB in one message.',
    }),
  ),
  upload_id: optional(text('upl_…: an upload of the caller.')),
};
const name = optional(text('A file name for the model and for readers.', { maxLength: 255 }));
const MEDIA_TYPE = 'Required with `data`. By default the type of the upload, or the one that `path` implies.';

const ImagePart = closed(
  {
    type: Type.Literal('image'),
    media_type: optional(
      Type.Enum([...IMAGE_MEDIA_TYPES], { description: `${MEDIA_TYPE} The bytes must match it.` }),
    ),
    name,
    ...SOURCE,
  },
  { title: 'ImagePart', description: 'An image with exactly one of `path`, `data` and `upload_id`.' },
);

const FilePart = closed(
  {
    type: Type.Literal('file'),
    media_type: optional(text(MEDIA_TYPE, { maxLength: 255, examples: ['application/pdf'] })),
    name,
    ...SOURCE,
  },
  { title: 'FilePart', description: 'A file with exactly one of `path`, `data` and `upload_id`.' },
);

const Parts = Type.Array(Type.Union([TextPart, ImagePart, FilePart], { title: 'ContentPart' }), {
  minItems: 1,
});

/** The content of a user message. */
export const MessageContent = Type.Union([Type.String(), Parts], {
  title: 'Content',
  description:
    'The message to the agent: a text or an array of parts. A text is equivalent to one text part. At most 32 parts are images ' +
    'or files, each of at most 64 MiB.',
  examples: ['Hello!'],
});

/** The first message of a conversation. */
export const FirstMessage = Type.Union([Type.String(), Parts, closed({ content: MessageContent })], {
  title: 'FirstMessage',
  description: 'The first message: its content, or an object with its content.',
  examples: ['Hello!'],
});

/** The longest request body with a message. */
export const MESSAGE_BYTES = 10 * 1024 * 1024;

/** How a message is handled while the session is busy. */
export const BusyPolicySchema = Type.Enum(['enqueue', 'reject', 'interrupt', 'steer'], {
  default: 'enqueue',
  description:
    '`enqueue` waits for the earlier turns. `reject` fails with SESSION_BUSY. `interrupt` ends the turn that runs, waits or is ' +
    'next. `steer` gives the message to that turn before its next model step, or queues it if the turn ends first.',
});

/** Whether a message stays in the input of models. */
export const PinnedSchema = Type.Boolean({
  default: false,
  description:
    'The message stays in the input of models as it is when older messages are replaced by a summary. At most 8 pinned ' +
    'messages of a session, with 16 KiB of texts (UTF-8), images and files together. A fork copies them with the history. ' +
    'A message that is removed from the queue no longer counts.',
});

/** The error codes of requests with the content of a message. */
export const CONTENT_ERRORS = [
  'CONTENT_NOT_SUPPORTED',
  'UPLOAD_NOT_FOUND',
  'FILE_NOT_FOUND',
  'FILE_TOO_LARGE',
  'STORAGE_FULL',
] as const satisfies ErrorCode[];

/** A part whose bytes the session has already. AI SDK sends such parts, which have the URL of the bytes. */
interface StoredPart {
  type: 'image' | 'file';
  media_type: string;
  name?: string;
  sha256: string;
}

/** Checked parts of a content. */
export type ContentParts = (Exclude<Static<typeof MessageContent>, string>[number] | StoredPart)[];
type BytesPart = Exclude<ContentParts[number], Static<typeof TextPart>>;

/** A content as services exchange it. */
export interface ReadContent {
  /** A JSON array of parts. Image and file parts are without the source of their bytes. */
  contentJson: string;
  /** The sources, in the order of these parts. Undefined for a text. */
  attachments: AttachmentList | undefined;
}

/**
 * Reads a validated content. `pointer` is its place in the body, and `inlineData` has the bytes that were taken out of the
 * body. Refuses with INVALID_REQUEST when a part does not have exactly one valid source.
 */
export function readContent(
  content: string | ContentParts,
  pointer: string,
  inlineData: InlineData = NO_INLINE_DATA,
): ReadContent {
  if (typeof content === 'string')
    return { contentJson: JSON.stringify([{ type: 'text', text: content }]), attachments: undefined };
  const attachments: Attachment[] = [];
  const parts = content.map((part, index) => {
    if (part.type === 'text') return part;
    const at = `${pointer}/${index}`;
    if (attachments.length === MAX_PARTS)
      throw refuseField(at, `must not be: a message has at most ${MAX_PARTS} images and files`);
    attachments.push({ source: sourceOf(part, at, inlineData.has(index) ? inlineData.get(index) : null) });
    const { type, media_type, name } = part;
    return { type, media_type, name };
  });
  return {
    contentJson: JSON.stringify(parts),
    attachments: attachments.length > 0 ? { attachments } : undefined,
  };
}

/** `taken` are the bytes that were taken out of the body: null if there are none, undefined if they are invalid. */
function sourceOf(part: BytesPart, at: string, taken: Buffer | undefined | null): Attachment['source'] {
  if ('sha256' in part) return { $case: 'sha256', value: part.sha256 };
  const { path, data, upload_id: uploadId } = part;
  const sources = [path, data, uploadId].filter((source) => source !== undefined);
  if (sources.length !== 1) throw refuseField(at, 'must have exactly one of path, data and upload_id');
  if (path !== undefined) return { $case: 'path', value: path };
  if (uploadId !== undefined) return { $case: 'uploadId', value: uploadId };
  const bytes = taken === null ? decodeBase64(Buffer.from(data ?? '')) : taken;
  if (!bytes) throw refuseField(`${at}/data`, 'must be standard Base64 with padding');
  if (bytes.length === 0) throw refuseField(`${at}/data`, 'must not be empty');
  return { $case: 'data', value: bytes };
}

/** Rethrows a refusal with the pointers of the body. The sessions service names the content `/content`. */
export function refuseContentAt(pointer: string): (error: unknown) => never {
  return (error) => {
    throw mapPointers(error, (at) => at.replace(/^\/content(?=\/|$)/, pointer));
  };
}
