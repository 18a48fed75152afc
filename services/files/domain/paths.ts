import { refuse, refuseField } from '../../../lib/errors.ts';
import { MAX_NAME_BYTES, MAX_PATH_BYTES, pathProblem } from '../../../lib/paths.ts';

export { ancestorsOf } from '../../../lib/paths.ts';

/** Returns the path of a request. Refused with INVALID_REQUEST that names the field. */
export function checkPath(path: string, pointer = '/path'): string {
  const problem = pathProblem(path);
  if (problem) throw refuseField(pointer, problem);
  return path;
}

/** Like `checkPath`, but accepts the empty path, which names the workspace itself. */
export function checkPathOrRoot(path: string, pointer = '/path'): string {
  return path === '' ? path : checkPath(path, pointer);
}

const MAX_TARGET_BYTES = 4096;

/** Returns the target of a symlink. It is stored as it was written, because the service never follows symlinks. */
export function checkTarget(target: string, pointer: string): string {
  if (target === '') throw refuseField(pointer, 'must not be empty');
  if (target.includes('\0') || !target.isWellFormed())
    throw refuseField(pointer, 'must be text without NUL characters and lone surrogates');
  if (byteLength(target) > MAX_TARGET_BYTES)
    throw refuseField(pointer, `must be at most ${MAX_TARGET_BYTES} bytes long`);
  return target;
}

/** The parent directory of a path; empty for the workspace itself. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

export function isBelow(path: string, directory: string): boolean {
  return directory === '' || path.startsWith(`${directory}/`);
}

/** Compares two paths by their UTF-8 bytes, like the database does, and not by UTF-16 code units. */
export function compareByBytes(one: string, other: string): number {
  return one === other ? 0 : Buffer.compare(Buffer.from(one), Buffer.from(other));
}

/** The path of an entry after its directory has moved `from` one path `to` another. */
export function movedPath(path: string, from: string, to: string): string {
  const target = `${to}${path.slice(from.length)}`;
  if (byteLength(target) > MAX_PATH_BYTES) {
    throw refuse(
      'INVALID_REQUEST',
      `The move would give \`${path}\` a path of more than ${MAX_PATH_BYTES} bytes.`,
    );
  }
  return target;
}

/** A longer suffix does not count as a file extension. */
const MAX_EXTENSION_BYTES = 32;

/**
 * The path for a change in conflict with a change that another user made after version `base`: `report.md` becomes
 * `report.conflict-v7.md`, then `report.conflict-v7-2.md`. The name is cut to fit the length limits.
 */
export function conflictName(path: string, base: number, attempt: number): string {
  const directory = path.slice(0, path.lastIndexOf('/') + 1);
  const name = path.slice(directory.length);
  const dot = name.lastIndexOf('.');
  const extension = dot > 0 && byteLength(name.slice(dot)) <= MAX_EXTENSION_BYTES ? name.slice(dot) : '';
  const suffix = `.conflict-v${base}${attempt === 1 ? '' : `-${attempt}`}${extension}`;
  const available = Math.min(MAX_NAME_BYTES, MAX_PATH_BYTES - byteLength(directory)) - byteLength(suffix);
  if (available < 1)
    throw refuse('INVALID_REQUEST', `The path \`${path}\` is too long for a conflict copy beside it.`);
  const stem = name.slice(0, name.length - extension.length);
  return `${directory}${truncateToBytes(stem, available)}${suffix}`;
}

/** Cuts text at a code point boundary. */
function truncateToBytes(text: string, bytes: number): string {
  let result = '';
  let size = 0;
  for (const point of text) {
    size += byteLength(point);
    if (size > bytes) break;
    result += point;
  }
  return result;
}

function byteLength(text: string): number {
  return Buffer.byteLength(text);
}
