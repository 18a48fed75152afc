import mime from 'mime';
import { nameOf } from '../../lib/paths.ts';

export const UNKNOWN_TYPE = 'application/octet-stream';

/** What the name of a file says about what is in it. Nobody has looked inside. */
export function mediaTypeOf(path: string): string {
  // With a slash before it, so that a name without a suffix is not taken for one.
  return mime.getType(`/${nameOf(path)}`) ?? UNKNOWN_TYPE;
}
