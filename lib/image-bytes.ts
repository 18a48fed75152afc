import { IMAGE_MEDIA_TYPES, type ImageMediaType } from './part-limits.ts';

/** The number of bytes from the beginning of a file that show its image type. */
export const IMAGE_HEAD_BYTES = 12;

const ascii = (text: string, offset = 0) => ({ offset, bytes: Buffer.from(text, 'latin1') });

/** The bytes at the beginning of each type; the type has all patterns of one of its lists. */
const SIGNATURES: Record<ImageMediaType, { offset: number; bytes: Buffer }[][]> = {
  // https://www.w3.org/TR/png-3/#5PNG-file-signature
  'image/png': [[ascii('\x89PNG\r\n\x1a\n')]],
  // Start of image and the first byte of the next marker: https://www.w3.org/Graphics/JPEG/itu-t81.pdf, annex B
  'image/jpeg': [[ascii('\xff\xd8\xff')]],
  // https://www.w3.org/Graphics/GIF/spec-gif89a.txt, section 17
  'image/gif': [[ascii('GIF87a')], [ascii('GIF89a')]],
  // https://www.rfc-editor.org/rfc/rfc9649#section-2.4
  'image/webp': [[ascii('RIFF'), ascii('WEBP', 8)]],
};

/** Returns whether the first bytes of a file are those of an image of this type. */
export function isImageHead(mediaType: ImageMediaType, head: Buffer): boolean {
  return SIGNATURES[mediaType].some((patterns) =>
    patterns.every(({ offset, bytes }) => head.subarray(offset, offset + bytes.length).equals(bytes)),
  );
}

/** Returns the image type that the first bytes of a file show. Undefined for other files. */
export function imageTypeOf(head: Buffer): ImageMediaType | undefined {
  return IMAGE_MEDIA_TYPES.find((mediaType) => isImageHead(mediaType, head));
}
