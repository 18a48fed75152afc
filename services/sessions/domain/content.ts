import { refuse, refuseField } from '../../../lib/errors.ts';

/** A part of a message as it is in a request. The bytes of image and file parts follow the content as attachments. */
export type RequestPart =
  | { type: 'text'; text: string }
  | { type: 'image' | 'file'; media_type?: string; name?: string };

/** The stored bytes of an image or file part. */
export interface StoredBytes {
  sha256: string;
  size: number;
  mediaType: string;
  /** Empty for none. */
  name: string;
}

/**
 * Returns the parts of a content with attachments. Refuses with INVALID_REQUEST when the number of its image and file
 * parts differs from the number of attachments.
 */
export function requireParts(content: unknown, attachments: number): RequestPart[] {
  if (!Array.isArray(content)) throw refuse('INVALID_REQUEST', 'The content must be a list of parts.');
  const parts = content.map((part: RequestPart | null, index) => {
    if (part?.type === 'text' && typeof part.text === 'string') return part;
    if (part?.type === 'image' || part?.type === 'file') return part;
    throw refuseField(`/content/${index}`, 'must be a text, image or file part');
  });
  const withBytes = parts.filter(({ type }) => type !== 'text').length;
  if (withBytes !== attachments)
    throw refuse(
      'INVALID_REQUEST',
      `The content has ${withBytes} parts with bytes, but ${attachments} attachments.`,
    );
  return parts;
}

/** The content as JSON for the journal. `stored` has the bytes of its image and file parts, in their order. */
export function journaledContent(parts: readonly RequestPart[], stored: readonly StoredBytes[]): string {
  const remaining = stored[Symbol.iterator]();
  const journaled = parts.map((part) => {
    if (part.type === 'text') return { type: part.type, text: part.text };
    const { value } = remaining.next();
    if (!value) throw new Error('the bytes of a part were not stored');
    const { mediaType, name, sha256, size } = value;
    return { type: part.type, media_type: mediaType, ...(name && { name }), sha256, size };
  });
  return JSON.stringify(journaled);
}

/** The text of which the title of a session is made: the first text, or the name of the first image or file. */
export function titleTextOf(content: unknown): string {
  const parts = Array.isArray(content) ? content : [];
  const text = parts.find((part) => typeof part?.text === 'string' && part.text.trim() !== '')?.text;
  return text ?? parts.find((part) => typeof part?.name === 'string')?.name ?? '';
}

const PART_TYPES: readonly unknown[] = ['text', 'image', 'file'];

/** Whether a value is a list of content parts with an image or a file. */
export function hasByteParts(value: unknown): boolean {
  if (!Array.isArray(value)) return false;
  const types = value.map((part) => part?.type);
  return types.every((type) => PART_TYPES.includes(type)) && types.some((type) => type !== 'text');
}
