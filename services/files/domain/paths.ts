import { refuse, refuseField } from '../../../lib/errors.ts';
import { MAX_NAME_BYTES, MAX_PATH_BYTES, pathProblem } from '../../../lib/paths.ts';

/** A path of a request. Refused with INVALID_REQUEST, with the name of the member. */
export function checkPath(path: string, pointer = '/path'): string {
  const problem = pathProblem(path);
  if (problem) throw refuseField(pointer, problem);
  return path;
}

/** The same, where the workspace itself may be meant by the empty path. */
export function checkPlace(path: string, pointer = '/path'): string {
  return path === '' ? path : checkPath(path, pointer);
}

const MAX_TARGET_BYTES = 4096;

/** Where a symlink points is kept as it was written: nobody here follows it. */
export function checkTarget(target: string, pointer: string): string {
  if (target === '') throw refuseField(pointer, 'must not be empty');
  if (target.includes('\0') || !target.isWellFormed()) throw refuseField(pointer, 'cannot be kept as text');
  if (byteLength(target) > MAX_TARGET_BYTES)
    throw refuseField(pointer, `is longer than ${MAX_TARGET_BYTES} bytes`);
  return target;
}

/** The directory something is in; empty for the workspace itself. */
export function directoryOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** All directories above it, the outermost first. */
export function above(path: string): string[] {
  const found: string[] = [];
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) found.push(path.slice(0, at));
  return found;
}

export function isBelow(path: string, directory: string): boolean {
  return directory === '' || path.startsWith(`${directory}/`);
}

/** Compares as the database does: by the bytes of their UTF-8, not by UTF-16. */
export function byBytes(one: string, other: string): number {
  return one === other ? 0 : Buffer.compare(Buffer.from(one), Buffer.from(other));
}

/** Where it stands after what it is in has moved. */
export function moved(path: string, from: string, to: string): string {
  const target = `${to}${path.slice(from.length)}`;
  if (byteLength(target) > MAX_PATH_BYTES) {
    throw refuse('INVALID_REQUEST', `${path} would have a path of more than ${MAX_PATH_BYTES} bytes there`);
  }
  return target;
}

/** A longer ending is no kind of file any more. */
const LONGEST_ENDING = 32;

/**
 * The name of what could not keep its own, because somebody else has changed the same since version `base`:
 * `report.md` becomes `report.conflict-v7.md`, then `report.conflict-v7-2.md`. It always fits.
 */
export function conflictName(path: string, base: number, attempt: number): string {
  const directory = path.slice(0, path.lastIndexOf('/') + 1);
  const name = path.slice(directory.length);
  const dot = name.lastIndexOf('.');
  const ending = dot > 0 && byteLength(name.slice(dot)) <= LONGEST_ENDING ? name.slice(dot) : '';
  const mark = `.conflict-v${base}${attempt === 1 ? '' : `-${attempt}`}${ending}`;
  const room = Math.min(MAX_NAME_BYTES, MAX_PATH_BYTES - byteLength(directory)) - byteLength(mark);
  if (room < 1) throw refuse('INVALID_REQUEST', `${path} leaves no room for a name beside it`);
  return `${directory}${cut(name.slice(0, name.length - ending.length), room)}${mark}`;
}

/** At a code point. */
function cut(text: string, bytes: number): string {
  let kept = '';
  let size = 0;
  for (const point of text) {
    size += byteLength(point);
    if (size > bytes) break;
    kept += point;
  }
  return kept;
}

function byteLength(text: string): number {
  return Buffer.byteLength(text);
}
