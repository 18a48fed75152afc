import { refuse, refuseField } from '../../lib/errors.ts';
import { parseMediaType } from '../../lib/media-type.ts';
import { MAX_NAME_BYTES } from '../../lib/paths.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters
const CONTROL = /[\u0000-\u001f\u007f]/;

/** Returns the media type with its type in lowercase. Refused with INVALID_REQUEST that names the field. */
export function checkMediaType(text: string, pointer: string): string {
  const mediaType = parseMediaType(text);
  if (mediaType === undefined) throw refuseField(pointer, 'must be a media type such as image/png');
  return mediaType;
}

/** Returns the name of a part or an upload, which may be empty. Refused with INVALID_REQUEST that names the field. */
export function checkName(name: string, pointer: string): string {
  if (!name.isWellFormed() || CONTROL.test(name))
    throw refuseField(pointer, 'must not have control characters or lone surrogates');
  if (Buffer.byteLength(name) > MAX_NAME_BYTES)
    throw refuseField(pointer, `must have at most ${MAX_NAME_BYTES} bytes`);
  return name;
}

/** An upload that does not exist, has expired or belongs to another user. */
export function unknownUpload(uploadId: string, pointer: string) {
  const message = `Unknown upload \`${uploadId}\`. It may have expired.`;
  return refuse('UPLOAD_NOT_FOUND', message, { details: [{ pointer, message }] });
}
