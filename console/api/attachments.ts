import { API_BASE } from './client.ts';

/** Limits of the images and files of one message. */
export const MAX_ATTACHMENTS = 32;
export const MAX_ATTACHMENT_BYTES = 64 * 1024 * 1024;

/** Media types that models accept as images. Other images are sent as files. */
const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

export const isImageType = (mediaType: string): boolean => IMAGE_TYPES.includes(mediaType);

const UNKNOWN_TYPE = 'application/octet-stream';

export const mediaTypeOf = (file: File): string => file.type || UNKNOWN_TYPE;

/** URL of the bytes of an image or file part of a message. */
export const partUrl = (sessionId: string, sha256: string): string =>
  `${API_BASE}/sessions/${sessionId}/parts/${sha256}`;
