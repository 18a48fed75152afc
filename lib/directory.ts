import { constants } from 'node:fs';
import { access, mkdir, open, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** A directory, or a file in it, cannot be used as it is. The start-up error screen shows the message and the fix. */
export class DirectoryProblem extends Error {
  override readonly name = 'DirectoryProblem';
  readonly path: string;
  /** Describes the expected state to the operator. */
  readonly expected: string;
  /** How the operator can fix it. */
  readonly fix: string;

  constructor(path: string, problem: string, expected: string, fix: string, cause?: unknown) {
    super(`${path} ${problem}`, { cause });
    this.path = path;
    this.expected = expected;
    this.fix = fix;
  }
}

export interface LockedDirectory extends AsyncDisposable {
  /** Absolute and without symbolic links. */
  readonly path: string;
  release(): Promise<void>;
}

const EXPECTED = 'a directory on a local disk that this user can read and write';
const LOCK = 'lock';
const HOLDER = 'lock.holder';
const SQLITE_BUSY = 5;

/** Holds a reference to each locked handle: garbage collection of the handle would release the lock. */
const handles = new Map<string, DatabaseSync>();

/**
 * Locks a directory for this process and creates it (mode 0700) when it is missing. Node has no file locks, so the lock
 * is taken by its built-in SQLite. The kernel releases it when the process ends for any reason: a killed holder leaves
 * no stale lock, and of several processes exactly one gets the lock. No other code may open and close the file `lock`,
 * because closing it releases the lock. The file is never deleted for the same reason.
 * Throws DirectoryProblem when another process holds the lock or the directory cannot be used.
 */
export async function lockDirectory(requestedPath: string): Promise<LockedDirectory> {
  const path = await prepareDirectory(requestedPath);
  const handle = await acquireLock(path);
  try {
    await writeFile(join(path, HOLDER), JSON.stringify(thisProcess()), { mode: 0o600 });
  } catch (error) {
    handle.close();
    throw unusable(path, error);
  }
  handles.set(path, handle);
  const release = async () => {
    if (handles.get(path) !== handle) return;
    handles.delete(path);
    await rm(join(path, HOLDER), { force: true });
    handle.close();
  };
  return { path, release, [Symbol.asyncDispose]: release };
}

async function prepareDirectory(requestedPath: string): Promise<string> {
  const absolutePath = resolve(requestedPath);
  try {
    await createDirectory(absolutePath);
    const path = await realpath(absolutePath);
    if (!(await stat(path)).isDirectory()) throw Object.assign(new Error(), { code: 'ENOTDIR' });
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return path;
  } catch (error) {
    throw unusable(absolutePath, error);
  }
}

async function createDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    // For some failures, such as a read-only disk, the recursive form only reports ENOENT. This call reports the cause.
    if (codeOf(error) === 'ENOENT') await mkdir(path, { mode: 0o700 });
    throw error;
  }
}

function unusable(path: string, cause: unknown): DirectoryProblem {
  const [problem, fix] = explain(codeOf(cause));
  return new DirectoryProblem(path, problem, EXPECTED, fix, cause);
}

function explain(code: string): [problem: string, fix: string] {
  if (code === 'EEXIST' || code === 'ENOTDIR')
    return ['is not a directory', 'move the file away, or name another directory'];
  if (code === 'EACCES' || code === 'EPERM')
    return [
      'cannot be read and written by this user',
      'give it to this user (chown), or name another directory',
    ];
  if (code === 'EROFS')
    return ['is on a read-only file system', 'name a directory on a disk that can be written'];
  if (code === 'ENOSPC') return ['is on a full disk', 'free some space, or name a directory on another disk'];
  return [`cannot be used (${code})`, 'name another directory'];
}

async function acquireLock(path: string): Promise<DatabaseSync> {
  const file = join(path, LOCK);
  try {
    // Mode 0600, because any user who can open the file could lock it.
    await (await open(file, 'wx', 0o600)).close();
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw unlockable(path, error);
  }
  let handle: DatabaseSync | undefined;
  try {
    handle = new DatabaseSync(file, { timeout: 0 });
    handle.exec('pragma journal_mode = memory; begin exclusive');
    return handle;
  } catch (error) {
    handle?.close();
    if (!(error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY))
      throw unlockable(path, error);
    throw new DirectoryProblem(
      path,
      `is in use by ${await holderOf(path)}`,
      'a directory that no other running process uses',
      'stop that process first, or name another directory',
    );
  }
}

function unlockable(path: string, cause: unknown): DirectoryProblem {
  return new DirectoryProblem(
    path,
    `cannot be locked (${cause instanceof Error ? cause.message : cause})`,
    EXPECTED,
    'name a directory on a local disk',
    cause,
  );
}

function thisProcess(): { pid: number; host: string; since: string } {
  return { pid: process.pid, host: hostname(), since: new Date().toISOString() };
}

/** Describes the holder for the error message. The note can be missing for a moment or name an earlier holder. */
async function holderOf(path: string): Promise<string> {
  try {
    const note: unknown = JSON.parse(await readFile(join(path, HOLDER), 'utf8'));
    const { pid, host, since } = note as Partial<ReturnType<typeof thisProcess>>;
    return `process ${pid}${host === hostname() ? '' : ` on ${host}`} since ${since}`;
  } catch {
    return 'another process';
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}
