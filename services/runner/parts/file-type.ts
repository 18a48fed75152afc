import { IMAGE_HEAD_BYTES, imageTypeOf } from '../../../lib/image-bytes.ts';
import { parseMediaType } from '../../../lib/media-type.ts';
import { isImageMediaType } from '../../../lib/part-limits.ts';

/**
 * The part type and media type of bytes that a model or a server has sent. The bytes decide what an image is: later requests
 * with an image of another type would fail.
 */
export function fileTypeOf(
  bytes: Uint8Array,
  claimed: string,
): { type: 'image' | 'file'; mediaType: string } {
  const image = imageTypeOf(Buffer.from(bytes.subarray(0, IMAGE_HEAD_BYTES)));
  if (image) return { type: 'image', mediaType: image };
  const mediaType = parseMediaType(claimed);
  return {
    type: 'file',
    mediaType:
      mediaType === undefined || isImageMediaType(mediaType) ? 'application/octet-stream' : mediaType,
  };
}
