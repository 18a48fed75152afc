/**
 * The rules of workspace paths. A path is relative, its parts are separated by slashes, and it is stored byte for byte:
 * it is not normalised, it is case-sensitive, and a backslash is an ordinary character.
 */

export const MAX_PATH_BYTES = 1024;
export const MAX_NAME_BYTES = 255;
/** Names with this prefix are reserved for the service. */
const RESERVED_NAMES = '.ahs-';

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters
const CONTROL = /[\u0000-\u001f\u007f]/;

/** Returns why a text is not a valid workspace path, as the end of a sentence, or undefined when it is valid. */
export function pathProblem(path: string): string | undefined {
  if (path === '') return 'must not be empty';
  if (!path.isWellFormed()) return 'holds a lone surrogate';
  if (CONTROL.test(path)) return 'holds a control character';
  if (path.startsWith('/')) return 'must be relative, without a leading slash';
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `must have at most ${MAX_PATH_BYTES} bytes`;
  for (const name of path.split('/')) {
    const problem = nameProblem(name);
    if (problem) return problem;
  }
  return undefined;
}

function nameProblem(name: string): string | undefined {
  if (name === '') return 'must not have an empty part or a trailing slash';
  if (name === '.' || name === '..') return 'must not have "." or ".." as a part';
  if (Buffer.byteLength(name) > MAX_NAME_BYTES)
    return `must not have a part of more than ${MAX_NAME_BYTES} bytes`;
  if (name.startsWith(RESERVED_NAMES)) return `must not have a part that begins with "${RESERVED_NAMES}"`;
  return undefined;
}

/** The last part of a path. */
export const baseNameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** All directories above a path, the outermost first. */
export function ancestorsOf(path: string): string[] {
  const found: string[] = [];
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) found.push(path.slice(0, at));
  return found;
}
