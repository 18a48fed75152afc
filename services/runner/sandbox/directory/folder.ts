import {
  chmodSync,
  closeSync,
  constants,
  type Dirent,
  fchmodSync,
  fstatSync,
  openSync,
  readdirSync,
} from 'node:fs';
import { join } from 'node:path';

const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Of Linux, on every architecture that Node runs on; Node does not name it. */
const O_PATH = 0o10_000_000;
const OWNER = 0o700;
const isLinux = process.platform === 'linux';

/**
 * A directory that is held open. What is named through it is in this very directory, whatever somebody else puts in
 * its place meanwhile: Linux finds open files below /proc/self/fd, which makes up for the *at calls that Node lacks.
 * Elsewhere, where nothing but a simulation runs, it is named by its path.
 *
 * Names are given as strings, or as the bytes that the disk holds.
 */
export class Folder implements Disposable {
  readonly fd: number;
  readonly #prefix: string;

  private constructor(fd: number, path: string) {
    this.fd = fd;
    this.#prefix = isLinux ? `/proc/self/fd/${fd}/` : join(path, '/');
  }

  /** A directory of the service's own; nobody else may change the path to it. */
  static open(path: string): Folder {
    return new Folder(openSync(path, DIRECTORY), path);
  }

  /** One directly in this one. Throws ENOTDIR or ELOOP when it is something else: no symlink is ever followed. */
  enter(name: string | Buffer): Folder {
    const path = this.at(name);
    return new Folder(openMended(path, DIRECTORY), String(path));
  }

  /** The directory in which the last part of a path stands, and that part. */
  parentOf(path: string): { folder: Folder; name: string } {
    const parts = path.split('/');
    const name = parts.pop() ?? '';
    let folder = this.enter('.');
    for (const part of parts) {
      using above = folder;
      folder = above.enter(part);
    }
    return { folder, name };
  }

  at(name: string): string;
  at(name: string | Buffer): string | Buffer;
  at(name: string | Buffer): string | Buffer {
    return typeof name === 'string' ? this.#prefix + name : Buffer.concat([Buffer.from(this.#prefix), name]);
  }

  /** What is in it. A name that is no UTF-8 holds U+FFFD, as others may, too. */
  list(): Dirent[] {
    return readdirSync(this.#prefix, { withFileTypes: true });
  }

  listBytes(): Dirent<Buffer>[] {
    return readdirSync(this.#prefix, { withFileTypes: true, encoding: 'buffer' });
  }

  [Symbol.dispose](): void {
    closeSync(this.fd);
  }
}

/**
 * Opens what the owner of this process may have locked themselves out of: programs set modes as they please. It is
 * made accessible through a handle of the thing itself, so that no link can put something else under the new mode.
 */
export function openMended(path: string | Buffer, flags: number): number {
  let fd: number;
  try {
    fd = openSync(path, flags);
  } catch (error) {
    if (!isLinux || codeOf(error) !== 'EACCES') throw error;
    const handle = openSync(path, O_PATH | constants.O_NOFOLLOW);
    try {
      chmodSync(`/proc/self/fd/${handle}`, OWNER | fstatSync(handle).mode);
    } finally {
      closeSync(handle);
    }
    fd = openSync(path, flags);
  }
  if (!IS_ROOT && (flags & constants.O_DIRECTORY) !== 0) unlock(fd);
  return fd;
}

const IS_ROOT = process.getuid?.() === 0;

function unlock(fd: number): void {
  const { mode } = fstatSync(fd);
  if ((mode & OWNER) !== OWNER) fchmodSync(fd, (mode & 0o777) | OWNER);
}

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
