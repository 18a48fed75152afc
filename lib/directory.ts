import { constants } from 'node:fs';
import { access, mkdir, open, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** A directory or a file in it cannot be used as it is; the start screen lists it with its way out. */
export class DirectoryProblem extends Error {
  override readonly name = 'DirectoryProblem';
  readonly path: string;
  /** The state that was expected, for people. */
  readonly expected: string;
  /** What the operator can do about it. */
  readonly fix: string;

  constructor(path: string, problem: string, expected: string, fix: string, cause?: unknown) {
    super(`${path} ${problem}`, { cause });
    this.path = path;
    this.expected = expected;
    this.fix = fix;
  }
}

export interface HeldDirectory extends AsyncDisposable {
  /** Absolute and without symbolic links. */
  readonly path: string;
  release(): Promise<void>;
}

const EXPECTED = 'a directory on a local disk that this user can read and write';
const LOCK = 'lock';
const HOLDER = 'lock.holder';
const SQLITE_BUSY = 5;

/** A lock ends with its handle, so nobody may lose the last reference to one that is still wanted. */
const handles = new Map<string, DatabaseSync>();

/**
 * Makes this process the only one that uses the directory, which is created (0700) when it is missing.
 * Node offers no file locks, but the SQLite inside it does take one. The kernel drops that lock when the
 * process ends in whatever way, so a killed holder leaves nothing behind that must be judged by its pid,
 * and of many takers exactly one succeeds. Nothing else may open and close the file named `lock`:
 * that would drop the lock, too. The file is never deleted, for the same reason.
 * Throws DirectoryProblem when it is held by another, or cannot be used.
 */
export async function holdDirectory(wanted: string): Promise<HeldDirectory> {
  const path = await usable(wanted);
  const handle = await lock(path);
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

async function usable(given: string): Promise<string> {
  const wanted = resolve(given);
  try {
    await create(wanted);
    const path = await realpath(wanted);
    if (!(await stat(path)).isDirectory()) throw Object.assign(new Error(), { code: 'ENOTDIR' });
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return path;
  } catch (error) {
    throw unusable(wanted, error);
  }
}

async function create(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    // Of some failures, such as a read-only disk, the recursive form only says that the directory is not there.
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

async function lock(path: string): Promise<DatabaseSync> {
  const file = join(path, LOCK);
  try {
    // Only the owner may open it: who can open it could lock it.
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

/** The note may be missing for a moment, or be that of an earlier holder: it only serves people. */
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
