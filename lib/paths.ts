/**
 * The rules of a path in a workspace. It is relative, its parts stand between slashes, and it is kept byte for byte:
 * nothing is normalised, case counts, and a backslash is a character like any other.
 */

export const MAX_PATH_BYTES = 1024;
export const MAX_NAME_BYTES = 255;
/** What begins with it belongs to the service. */
export const RESERVED_NAMES = '.ahs-';

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\u0000-\u001f\u007f]/;

/** Why a text cannot be the path of something in a workspace, as the end of a sentence; undefined when it can. */
export function pathProblem(path: string): string | undefined {
  if (path === '') return 'must not be empty';
  if (!path.isWellFormed()) return 'holds a lone surrogate';
  if (CONTROL.test(path)) return 'holds a control character';
  if (path.startsWith('/')) return 'must be relative: without a slash at its beginning';
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `must have at most ${MAX_PATH_BYTES} bytes`;
  for (const name of path.split('/')) {
    const problem = nameProblem(name);
    if (problem) return problem;
  }
  return undefined;
}

function nameProblem(name: string): string | undefined {
  if (name === '') return 'must not have an empty part or a slash at its end';
  if (name === '.' || name === '..') return 'must not have "." or ".." as a part';
  if (Buffer.byteLength(name) > MAX_NAME_BYTES)
    return `must not have a part of more than ${MAX_NAME_BYTES} bytes`;
  if (name.startsWith(RESERVED_NAMES)) return `must not have a part that begins with "${RESERVED_NAMES}"`;
  return undefined;
}

/** The last part of a path. */
export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
