import { refuseField } from '../../../lib/errors.ts';
import { IMAGE_MEDIA_TYPES } from '../../../lib/part-limits.ts';
import type { ContentParts } from '../../schemas/content.ts';

type Part = ContentParts[number];

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w-]+=[\w.+-]+)*;base64,/;

/** An image from a data URL. Refuses remote URLs with INVALID_REQUEST: the service fetches nothing for a message. */
export function imagePart(url: string, pointer: string): Part {
  const { mediaType, data } = parse(url, pointer);
  const type = IMAGE_MEDIA_TYPES.find((one) => one === mediaType);
  if (!type) throw refuseField(pointer, `must have one of the media types ${IMAGE_MEDIA_TYPES.join(', ')}`);
  return { type: 'image', media_type: type, data };
}

/** A file from a data URL. */
export function filePart(url: string, name: string | undefined, pointer: string): Part {
  const { mediaType, data } = parse(url, pointer);
  return { type: 'file', media_type: mediaType, data, ...(name !== undefined && { name }) };
}

function parse(url: string, pointer: string): { mediaType: string; data: string } {
  const match = DATA_URL.exec(url);
  if (!match) throw refuseField(pointer, 'must be a data URL with Base64; remote URLs are not fetched');
  return { mediaType: match[1] ?? '', data: url.slice(match[0].length) };
}
