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
import { codeOf, Folder, openMended } from '../directory/folder.ts';
import { FsError, type Mount, type Spot } from './names.ts';
import type { Space } from './space.ts';

type DirentEntry = Awaited<ReturnType<NonNullable<IFileSystem['readdirWithFileTypes']>>>[number];
export type DiskSpot = Extract<Spot, { kind: 'disk' }>;

const { O_RDONLY, O_WRONLY, O_CREAT, O_TRUNC, O_APPEND, O_NOFOLLOW, O_NONBLOCK } = constants;
const MAX_READ_BYTES = 512 * 1024 * 1024;
const WORDS: Record<string, string> = {
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

/** Carries out one step on the disk; what fails is told in the words of a shell, without a path of this machine. */
function step<T>(
  what: string,
  { path, mount, inner }: DiskSpot,
  action: (folder: Folder, name: string) => T,
): T {
  try {
    using root = Folder.open(mount.root);
    if (inner === '') return action(root, '.');
    const { folder, name } = root.parentOf(inner);
    using _ = folder;
    return action(folder, name);
  } catch (error) {
    if (error instanceof FsError) throw error;
    const code = codeOf(error) || 'EIO';
    throw new FsError(code, `${WORDS[code] ?? 'input/output error,'} ${what}`, path);
  }
}

export function lookAt(spot: DiskSpot): FsStat {
  return step('stat', spot, (folder, name) => statOf(lstatSync(folder.at(name))));
}

export function read(spot: DiskSpot): Buffer {
  return step('open', spot, (folder, name) => {
    using file = new OpenFile(folder, name, O_RDONLY);
    const { size } = file.stats();
    if (size > MAX_READ_BYTES) throw new FsError('EFBIG', 'file too large, read', spot.path);
    const buffer = Buffer.alloc(size);
    let at = 0;
    for (let more = 1; more > 0 && at < size; at += more) more = readSync(file.fd, buffer, { offset: at });
    return buffer.subarray(0, at);
  });
}

export function write(spot: DiskSpot, content: Uint8Array, mode: 'replace' | 'append', space: Space): void {
  step('open', spot, (folder, name) => {
    const before = mode === 'append' ? 0 : (lstatSync(folder.at(name), { throwIfNoEntry: false })?.size ?? 0);
    space.claim(spot.mount, content.length - before, spot.path);
    using file = new OpenFile(folder, name, O_WRONLY | O_CREAT | (mode === 'append' ? O_APPEND : O_TRUNC));
    for (let at = 0; at < content.length; ) at += writeSync(file.fd, content, at);
  });
}

export function makeDirectory(spot: DiskSpot): void {
  step('mkdir', spot, (folder, name) => mkdirSync(folder.at(name)));
}

/** With those above it, each from the one before: a path may be long. */
export function makeDirectories(spot: DiskSpot): void {
  step('mkdir', { ...spot, inner: '' }, (root) => {
    let folder = root.enter('.');
    for (const name of spot.inner.split('/')) {
      using above = folder;
      makeUnlessThere(above.at(name));
      folder = above.enter(name);
    }
    folder[Symbol.dispose]();
  });
}

function makeUnlessThere(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

export function list(spot: DiskSpot): DirentEntry[] {
  return step('scandir', spot, (folder, name) => {
    using inside = folder.enter(name);
    const entries = inside.list().map((entry) => ({
      name: entry.name,
      isFile: entry.isFile(),
      isDirectory: entry.isDirectory(),
      isSymbolicLink: entry.isSymbolicLink(),
    }));
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  });
}

export function removeOne(spot: DiskSpot, isDirectory: boolean): void {
  step('rm', spot, (folder, name) => (isDirectory ? rmdirSync : unlinkSync)(folder.at(name)));
}

/** Within one mount. */
export function move(from: DiskSpot, to: DiskSpot): void {
  step('mv', from, (folder, name) =>
    step('mv', to, (other, newName) => renameSync(folder.at(name), other.at(newName))),
  );
}

export function hardLink(from: DiskSpot, to: DiskSpot): void {
  step('link', from, (folder, name) =>
    step('link', to, (other, newName) => linkSync(folder.at(name), other.at(newName))),
  );
}

export function putLink(spot: DiskSpot, target: string): void {
  step('symlink', spot, (folder, name) => symlinkSync(target, folder.at(name)));
}

export function linkTarget(spot: DiskSpot): string {
  return step('readlink', spot, (folder, name) => readlinkSync(folder.at(name)));
}

export function changeMode(spot: DiskSpot, mode: number): void {
  step('chmod', spot, (folder, name) => {
    using thing = new OpenFile(folder, name, O_RDONLY, true);
    fchmodSync(thing.fd, mode & 0o777);
  });
}

export function changeTimes(spot: DiskSpot, accessed: Date, modified: Date): void {
  step('utimes', spot, (folder, name) => {
    using thing = new OpenFile(folder, name, O_RDONLY, true);
    futimesSync(thing.fd, accessed, modified);
  });
}

export const isSameMount = (one: Mount, other: Mount): boolean => one.at === other.at;

/** A regular file, or also a directory: never what waits for somebody, such as a pipe. */
class OpenFile implements Disposable {
  readonly fd: number;

  constructor(folder: Folder, name: string, flags: number, orDirectory = false) {
    const path = folder.at(name);
    this.fd = openMended(path, flags | O_NOFOLLOW | O_NONBLOCK);
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
