const MIB = 1024 * 1024;

/** The maximum number of image and file parts of one message or tool result. */
export const MAX_PARTS = 32;
/** The maximum size of one part in bytes. */
export const MAX_PART_BYTES = 64 * MIB;
/** The maximum size of the bytes that one part carries in its JSON, before their encoding in Base64. */
export const MAX_INLINE_PART_BYTES = 5 * MIB;
/** The maximum sum of these sizes in one message or tool result. */
export const MAX_INLINE_BYTES = 7 * MIB;

export const IMAGE_MEDIA_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;
export type ImageMediaType = (typeof IMAGE_MEDIA_TYPES)[number];

export function isImageMediaType(mediaType: string): mediaType is ImageMediaType {
  return IMAGE_MEDIA_TYPES.some((one) => one === mediaType);
}
