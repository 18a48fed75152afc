import { Mime } from 'mime';
import other from 'mime/types/other.js';
import standard from 'mime/types/standard.js';
import { nameOf } from '../../lib/paths.ts';

export const UNKNOWN_TYPE = 'application/octet-stream';

/** Where agents work, these are programs; the registry of types takes `.ts` for a film. */
const PROGRAMS = { 'text/typescript': ['ts', 'mts', 'cts', 'tsx'] };

const types = new Mime(standard, other).define(PROGRAMS, true);

/** What the name of a file says about what is in it. Nobody has looked inside. */
export function mediaTypeOf(path: string): string {
  // With a slash before it, so that a name without a suffix is not taken for one.
  return types.getType(`/${nameOf(path)}`) ?? UNKNOWN_TYPE;
}
