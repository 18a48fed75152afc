import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  futimesSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  readSync,
  renameSync,
  rmdirSync,
  type Stats,
  symlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import type { FsStat, IFileSystem } from 'just-bash';
import { errorCode, OpenDirectory, openRestoringAccess } from '../directory/open-directory.ts';
import { FsError, type Mount, type ResolvedPath } from './mounts.ts';
import type { SpaceQuota } from './space-quota.ts';

type DirentEntry = Awaited<ReturnType<NonNullable<IFileSystem['readdirWithFileTypes']>>>[number];
export type DiskPath = Extract<ResolvedPath, { kind: 'disk' }>;

const { O_RDONLY, O_WRONLY, O_CREAT, O_TRUNC, O_APPEND, O_NOFOLLOW, O_NONBLOCK } = constants;
const MAX_READ_BYTES = 512 * 1024 * 1024;
const ERROR_TEXTS: Record<string, string> = {
  ENOENT: 'no such file or directory,',
  EEXIST: 'file already exists,',
  ENOTDIR: 'not a directory,',
  EISDIR: 'illegal operation on a directory,',
  ENOTEMPTY: 'directory not empty,',
  ELOOP: 'too many levels of symbolic links,',
  EACCES: 'permission denied,',
  ENAMETOOLONG: 'file name too long,',
  ENOSPC: 'no space left on device,',
  EXDEV: 'cross-device link not permitted,',
};

/** Runs one operation on the disk. Throws FsError with a path of the simulated tree instead of one of this machine. */
function onDisk<T>(
  operation: string,
  { path, mount, inner }: DiskPath,
  action: (folder: OpenDirectory, name: string) => T,
): T {
  try {
    using root = OpenDirectory.open(mount.directory, { keepsModes: mount.use === 'skill' });
    if (inner === '') return action(root, '.');
    const { parent, name } = root.parentOf(inner);
    using _ = parent;
    return action(parent, name);
  } catch (error) {
    if (error instanceof FsError) throw error;
    const code = errorCode(error) || 'EIO';
    throw new FsError(code, `${ERROR_TEXTS[code] ?? 'input/output error,'} ${operation}`, path);
  }
}

export function stat(location: DiskPath): FsStat {
  return onDisk('stat', location, (folder, name) => statOf(lstatSync(folder.pathOf(name))));
}

export function read(location: DiskPath): Buffer {
  return onDisk('open', location, (folder, name) => {
    using file = new OpenFile(folder, name, O_RDONLY);
    const { size } = file.stats();
    if (size > MAX_READ_BYTES) throw new FsError('EFBIG', 'file too large, read', location.path);
    const buffer = Buffer.alloc(size);
    let at = 0;
    for (let more = 1; more > 0 && at < size; at += more) more = readSync(file.fd, buffer, { offset: at });
    return buffer.subarray(0, at);
  });
}

export function write(
  location: DiskPath,
  content: Uint8Array,
  mode: 'replace' | 'append',
  space: SpaceQuota,
): void {
  onDisk('open', location, (folder, name) => {
    const before = lstatSync(folder.pathOf(name), { throwIfNoEntry: false });
    const isAppended = mode === 'append';
    const [kept, replaced] = isAppended ? [before?.size ?? 0, 0] : [0, before?.size ?? 0];
    space.reserve(location.mount, content.length - replaced, kept + content.length, location.path);
    if (!before) space.reserveEntry(location.mount, location.path);
    using file = new OpenFile(folder, name, O_WRONLY | O_CREAT | (mode === 'append' ? O_APPEND : O_TRUNC));
    for (let at = 0; at < content.length; ) at += writeSync(file.fd, content, at);
  });
}

export function mkdir(location: DiskPath, space: SpaceQuota): void {
  space.reserveEntry(location.mount, location.path);
  onDisk('mkdir', location, (folder, name) => mkdirSync(folder.pathOf(name)));
}

/** Creates missing parents, too. Opens each directory from its parent: a path may be longer than PATH_MAX. */
export function mkdirParents(location: DiskPath, space: SpaceQuota): void {
  onDisk('mkdir', { ...location, inner: '' }, (root) => {
    let directory = root.openChild('.');
    for (const name of location.inner.split('/')) {
      using parent = directory;
      space.reserveEntry(location.mount, location.path);
      mkdirIfMissing(parent.pathOf(name));
      directory = parent.openChild(name);
    }
    directory[Symbol.dispose]();
  });
}

function mkdirIfMissing(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

export function list(location: DiskPath): DirentEntry[] {
  return onDisk('scandir', location, (folder, name) => {
    using directory = folder.openChild(name);
    const entries = directory.list().map((entry) => ({
      name: entry.name,
      isFile: entry.isFile(),
      isDirectory: entry.isDirectory(),
      isSymbolicLink: entry.isSymbolicLink(),
    }));
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  });
}

export function remove(location: DiskPath, isDirectory: boolean): void {
  onDisk('rm', location, (folder, name) => (isDirectory ? rmdirSync : unlinkSync)(folder.pathOf(name)));
}

/** Both paths must be below the same mount. */
export function move(from: DiskPath, to: DiskPath): void {
  onDisk('mv', from, (folder, name) =>
    onDisk('mv', to, (other, newName) => renameSync(folder.pathOf(name), other.pathOf(newName))),
  );
}

export function hardLink(from: DiskPath, to: DiskPath, space: SpaceQuota): void {
  space.reserveEntry(to.mount, to.path);
  onDisk('link', from, (folder, name) =>
    onDisk('link', to, (other, newName) => linkSync(folder.pathOf(name), other.pathOf(newName))),
  );
}

export function createSymlink(location: DiskPath, target: string, space: SpaceQuota): void {
  space.reserveEntry(location.mount, location.path);
  onDisk('symlink', location, (folder, name) => symlinkSync(target, folder.pathOf(name)));
}

export function readLink(location: DiskPath): string {
  return onDisk('readlink', location, (folder, name) => readlinkSync(folder.pathOf(name)));
}

export function chmod(location: DiskPath, mode: number): void {
  onDisk('chmod', location, (folder, name) => {
    using file = new OpenFile(folder, name, O_RDONLY, true);
    fchmodSync(file.fd, mode & 0o777);
  });
}

export function utimes(location: DiskPath, accessed: Date, modified: Date): void {
  onDisk('utimes', location, (folder, name) => {
    using file = new OpenFile(folder, name, O_RDONLY, true);
    futimesSync(file.fd, accessed, modified);
  });
}

export const isSameMount = (first: Mount, second: Mount): boolean => first.mountPoint === second.mountPoint;

/** Opens a regular file or, on request, a directory. Throws for other entries: a named pipe would wait for a writer. */
class OpenFile implements Disposable {
  readonly fd: number;

  constructor(folder: OpenDirectory, name: string, flags: number, orDirectory = false) {
    const path = folder.pathOf(name);
    this.fd = openRestoringAccess(path, flags | O_NOFOLLOW | O_NONBLOCK);
    const stats = this.stats();
    if (stats.isFile() || (orDirectory && stats.isDirectory())) return;
    this[Symbol.dispose]();
    throw Object.assign(new Error(), { code: stats.isDirectory() ? 'EISDIR' : 'EACCES' });
  }

  stats(): Stats {
    return fstatSync(this.fd);
  }

  [Symbol.dispose](): void {
    closeSync(this.fd);
  }
}

function statOf(stats: Stats): FsStat {
  return {
    isFile: stats.isFile(),
    isDirectory: stats.isDirectory(),
    isSymbolicLink: stats.isSymbolicLink(),
    mode: stats.mode & 0o7777,
    size: stats.size,
    mtime: stats.mtime,
    ino: stats.ino,
  };
}
