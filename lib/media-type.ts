import { Mime } from 'mime';
import other from 'mime/types/other.js';
import standard from 'mime/types/standard.js';
import { baseNameOf } from './paths.ts';

const UNKNOWN_TYPE = 'application/octet-stream';

/** The registry of media types maps `.ts` to video/mp2t. In workspaces these files are TypeScript. */
const TYPESCRIPT = { 'text/typescript': ['ts', 'mts', 'cts', 'tsx'] };

const types = new Mime(standard, other).define(TYPESCRIPT, true);

/** The media type that the suffix of a file name implies. The content is not examined. */
export function mediaTypeOf(path: string): string {
  // The library treats a name without a slash and a dot as a suffix.
  return types.getType(`/${baseNameOf(path)}`) ?? UNKNOWN_TYPE;
}

/** https://www.rfc-editor.org/rfc/rfc6838#section-4.2, and parameters of https://www.rfc-editor.org/rfc/rfc9110#section-5.6.6 */
const MEDIA_TYPE =
  /^([a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126})((?:[ \t]*;[ \t]*[\w!#$%&'*+.^`|~-]+=(?:[\w!#$%&'*+.^`|~-]+|"[\x20!#-[\]-~]*"))*)$/i;
export const MAX_MEDIA_TYPE_CHARACTERS = 255;

/** Returns a media type with its type in lowercase; undefined if the text is no media type. */
export function parseMediaType(text: string): string | undefined {
  if (text.length > MAX_MEDIA_TYPE_CHARACTERS) return undefined;
  const [, type, parameters = ''] = MEDIA_TYPE.exec(text) ?? [];
  return type === undefined ? undefined : `${type.toLowerCase()}${parameters}`;
}
