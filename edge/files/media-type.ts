import { Mime } from 'mime';
import other from 'mime/types/other.js';
import standard from 'mime/types/standard.js';
import { baseNameOf } from '../../lib/paths.ts';

const UNKNOWN_TYPE = 'application/octet-stream';

/** The registry of media types maps `.ts` to video/mp2t. In workspaces these files are TypeScript. */
const TYPESCRIPT = { 'text/typescript': ['ts', 'mts', 'cts', 'tsx'] };

const types = new Mime(standard, other).define(TYPESCRIPT, true);

/** The media type that the suffix of a file name implies. The content is not examined. */
export function mediaTypeOf(path: string): string {
  // The library treats a name without a slash and a dot as a suffix.
  return types.getType(`/${baseNameOf(path)}`) ?? UNKNOWN_TYPE;
}
