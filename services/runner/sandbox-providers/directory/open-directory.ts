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
/** The value on all architectures of Linux that Node supports; Node exports no constant for it. */
const O_PATH = 0o10_000_000;
const OWNER_ACCESS = 0o700;
const isLinux = process.platform === 'linux';

/**
 * An open directory. Its entries are accessed through its file descriptor, below /proc/self/fd, so that replacing the
 * directory has no effect on them. This substitutes the *at system calls, which Node lacks. On systems other than
 * Linux, where only the simulated provider runs, entries are accessed by path.
 *
 * Names are strings, or the bytes on disk.
 */
export class OpenDirectory implements Disposable {
  readonly fd: number;
  readonly #prefix: string;
  readonly #keepsModes: boolean;

  private constructor(fd: number, path: string, keepsModes: boolean) {
    this.fd = fd;
    this.#keepsModes = keepsModes;
    this.#prefix = isLinux ? `/proc/self/fd/${fd}/` : join(path, '/');
  }

  /**
   * Opens a directory by path. Only the service may be able to change the directories on the path. `keepsModes` prevents
   * that the owner's access to directories in it is restored.
   */
  static open(path: string, { keepsModes = false } = {}): OpenDirectory {
    return new OpenDirectory(openSync(path, DIRECTORY), path, keepsModes);
  }

  /** Opens a directory in this one. Throws ENOTDIR or ELOOP for other entries: no symbolic link is followed. */
  openChild(name: string | Buffer): OpenDirectory {
    const path = this.pathOf(name);
    const fd = this.#keepsModes ? openSync(path, DIRECTORY) : openRestoringAccess(path, DIRECTORY);
    return new OpenDirectory(fd, String(path), this.#keepsModes);
  }

  /** Opens the parent directory of a path below this one. Returns it with the last part of the path. */
  parentOf(path: string): { parent: OpenDirectory; name: string } {
    const parts = path.split('/');
    const name = parts.pop() ?? '';
    let parent = this.openChild('.');
    for (const part of parts) {
      using above = parent;
      parent = above.openChild(part);
    }
    return { parent, name };
  }

  pathOf(name: string): string;
  pathOf(name: string | Buffer): string | Buffer;
  pathOf(name: string | Buffer): string | Buffer {
    return typeof name === 'string' ? this.#prefix + name : Buffer.concat([Buffer.from(this.#prefix), name]);
  }

  /** Returns the entries. U+FFFD replaces bytes of a name that are not UTF-8; a name may also contain it itself. */
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
 * Opens a file or directory, and restores the owner's access when a program has removed it. The mode is changed
 * through a handle of the entry, so that a symbolic link cannot redirect the change.
 */
export function openRestoringAccess(path: string | Buffer, flags: number): number {
  let fd: number;
  try {
    fd = openSync(path, flags);
  } catch (error) {
    if (!isLinux || errorCode(error) !== 'EACCES') throw error;
    const handle = openSync(path, O_PATH | constants.O_NOFOLLOW);
    try {
      chmodSync(`/proc/self/fd/${handle}`, OWNER_ACCESS | fstatSync(handle).mode);
    } finally {
      closeSync(handle);
    }
    fd = openSync(path, flags);
  }
  if (!IS_ROOT && (flags & constants.O_DIRECTORY) !== 0) restoreOwnerAccess(fd);
  return fd;
}

const IS_ROOT = process.getuid?.() === 0;

function restoreOwnerAccess(fd: number): void {
  const { mode } = fstatSync(fd);
  if ((mode & OWNER_ACCESS) !== OWNER_ACCESS) fchmodSync(fd, (mode & 0o777) | OWNER_ACCESS);
}

export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
