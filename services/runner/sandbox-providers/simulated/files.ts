import type { CpOptions, FileContent, FsStat, IFileSystem, MkdirOptions, RmOptions } from 'just-bash';
import * as disk from './disk.ts';
import { FsError, type Mount, type ResolvedPath, resolve } from './mounts.ts';
import type { SpaceQuota } from './space-quota.ts';

type DirentEntry = Awaited<ReturnType<NonNullable<IFileSystem['readdirWithFileTypes']>>>[number];
type Encoding = Parameters<IFileSystem['readFile']>[1];

/**
 * The file system of a simulated shell. The workspace, temporary files and home directory are directories of this
 * machine, and so are skills, which are read-only. All other files are simulated and read-only.
 */
export class SimulatedFiles implements IFileSystem {
  readonly #system: IFileSystem;
  readonly #mounts: readonly Mount[];
  readonly #space: SpaceQuota;

  constructor(system: IFileSystem, mounts: readonly Mount[], space: SpaceQuota) {
    this.#system = system;
    this.#mounts = mounts;
    this.#space = space;
  }

  async readFile(path: string, options?: Encoding): Promise<string> {
    return Buffer.from(await this.readFileBuffer(path)).toString(encodingOf(options));
  }

  async readFileBuffer(path: string): Promise<Uint8Array> {
    const location = this.#resolve(path);
    return location.kind === 'disk' ? disk.read(location) : this.#system.readFileBuffer(location.path);
  }

  async writeFile(path: string, content: FileContent, options?: Encoding): Promise<void> {
    await this.#write(path, content, options, 'replace');
  }

  async appendFile(path: string, content: FileContent, options?: Encoding): Promise<void> {
    await this.#write(path, content, options, 'append');
  }

  async exists(path: string): Promise<boolean> {
    try {
      await this.stat(path);
      return true;
    } catch {
      return false;
    }
  }

  async stat(path: string): Promise<FsStat> {
    const location = this.#resolve(path);
    return location.kind === 'disk' ? disk.stat(location) : this.#system.stat(location.path);
  }

  async lstat(path: string): Promise<FsStat> {
    const location = this.#resolve(path, false);
    return location.kind === 'disk' ? disk.stat(location) : this.#system.lstat(location.path);
  }

  async mkdir(path: string, { recursive = false }: MkdirOptions = {}): Promise<void> {
    const location = this.#resolve(path);
    if (recursive && (await this.#isDirectory(location))) return;
    if (await this.exists(location.path)) throw new FsError('EEXIST', 'file already exists, mkdir', path);
    if (!isWritable(location)) throw readOnly('mkdir', path);
    if (recursive) disk.mkdirParents(location, this.#space);
    else disk.mkdir(location, this.#space);
  }

  async readdir(path: string): Promise<string[]> {
    return (await this.readdirWithFileTypes(path)).map(({ name }) => name);
  }

  async readdirWithFileTypes(path: string): Promise<DirentEntry[]> {
    const location = this.#resolve(path);
    if (location.kind === 'disk') return disk.list(location);
    const names = await this.#system.readdir(location.path);
    return Promise.all(
      names.map(async (name) => {
        const { isFile, isDirectory, isSymbolicLink } = await this.#system.lstat(join(location.path, name));
        return { name, isFile, isDirectory, isSymbolicLink };
      }),
    );
  }

  async rm(path: string, { recursive = false, force = false }: RmOptions = {}): Promise<void> {
    const location = this.#resolve(path, false);
    if (force && !(await this.#exists(location))) return;
    if (!isWritable(location)) throw readOnly('rm', path);
    if (location.inner === '') throw new FsError('EBUSY', 'resource busy or locked, rm', path);
    const { isDirectory } = disk.stat(location);
    if (isDirectory && recursive)
      for (const { name } of disk.list(location)) await this.rm(join(location.path, name), { recursive });
    disk.remove(location, isDirectory);
  }

  async cp(source: string, target: string, { recursive = false }: CpOptions = {}): Promise<void> {
    const from = this.#resolve(source, false);
    const stat = await this.lstat(from.path);
    if (stat.isSymbolicLink) return this.symlink(await this.readlink(from.path), target);
    if (!stat.isDirectory) {
      await this.writeFile(target, await this.readFileBuffer(from.path));
      await this.chmod(target, stat.mode);
      return;
    }
    if (!recursive) throw new FsError('EISDIR', 'is a directory, cp', source);
    const to = this.#resolve(target);
    if (isBelow(to.path, from.path))
      throw new FsError('EINVAL', 'cannot copy a directory into itself, cp', source);
    await this.mkdir(to.path, { recursive: true });
    for (const name of await this.readdir(from.path))
      await this.cp(join(from.path, name), join(to.path, name), { recursive });
  }

  async mv(source: string, target: string): Promise<void> {
    const from = this.#resolve(source, false);
    const to = this.#resolve(target, false);
    if (!isWritable(from)) throw readOnly('mv', source);
    if (!isWritable(to)) throw readOnly('mv', target);
    if (from.inner === '' || to.inner === '')
      throw new FsError('EBUSY', 'resource busy or locked, mv', source);
    if (disk.isSameMount(from.mount, to.mount)) return disk.move(from, to);
    await this.cp(from.path, to.path, { recursive: true });
    await this.rm(from.path, { recursive: true });
  }

  resolvePath(base: string, path: string): string {
    const parts: string[] = [];
    for (const part of (path.startsWith('/') ? path : `${base}/${path}`).split('/')) {
      if (part === '..') parts.pop();
      else if (part !== '' && part !== '.') parts.push(part);
    }
    return `/${parts.join('/')}`;
  }

  getAllPaths(): string[] {
    return [];
  }

  async chmod(path: string, mode: number): Promise<void> {
    disk.chmod(this.#writable(path, 'chmod'), mode);
  }

  async symlink(target: string, path: string): Promise<void> {
    disk.createSymlink(this.#writable(path, 'symlink', false), target, this.#space);
  }

  async link(existing: string, path: string): Promise<void> {
    const from = this.#writable(existing, 'link', false);
    const to = this.#writable(path, 'link', false);
    if (!disk.isSameMount(from.mount, to.mount))
      throw new FsError('EXDEV', 'cross-device link not permitted, link', existing);
    disk.hardLink(from, to, this.#space);
  }

  async readlink(path: string): Promise<string> {
    const location = this.#resolve(path, false);
    return location.kind === 'disk' ? disk.readLink(location) : this.#system.readlink(location.path);
  }

  async realpath(path: string): Promise<string> {
    const location = this.#resolve(path);
    await this.stat(location.path);
    return location.path;
  }

  async utimes(path: string, accessed: Date, modified: Date): Promise<void> {
    disk.utimes(this.#writable(path, 'utimes'), accessed, modified);
  }

  #resolve(path: string, followLast = true): ResolvedPath {
    if (path.includes('\0')) throw new FsError('ENOENT', 'no such file or directory, open', path);
    return resolve(this.#mounts, path, followLast);
  }

  #writable(path: string, operation: string, followLast = true): disk.DiskPath {
    const location = this.#resolve(path, followLast);
    if (!isWritable(location)) throw readOnly(operation, path);
    return location;
  }

  async #isDirectory({ path }: ResolvedPath): Promise<boolean> {
    try {
      return (await this.stat(path)).isDirectory;
    } catch {
      return false;
    }
  }

  async #exists({ path }: ResolvedPath): Promise<boolean> {
    try {
      await this.lstat(path);
      return true;
    } catch {
      return false;
    }
  }

  async #write(
    path: string,
    content: FileContent,
    options: Encoding,
    mode: 'replace' | 'append',
  ): Promise<void> {
    const location = this.#resolve(path);
    if (!isWritable(location)) {
      // Simulated devices, such as /dev/null, discard their input.
      if (
        location.kind === 'system' &&
        isBelow(location.path, '/dev') &&
        (await this.#system.exists(location.path))
      )
        return;
      throw readOnly('open', path);
    }
    disk.write(location, bytesOf(content, options), mode, this.#space);
  }
}

const isWritable = (location: ResolvedPath): location is disk.DiskPath =>
  location.kind === 'disk' && location.mount.use !== 'skill';
const join = (above: string, name: string): string => (above === '/' ? `/${name}` : `${above}/${name}`);
const isBelow = (path: string, above: string): boolean => path === above || path.startsWith(`${above}/`);
const readOnly = (operation: string, path: string) =>
  new FsError('EROFS', `read-only file system, ${operation}`, path);

function encodingOf(options: Encoding): BufferEncoding {
  const encoding = typeof options === 'string' ? options : options?.encoding;
  return encoding ?? 'utf8';
}

function bytesOf(content: FileContent, options: Encoding): Uint8Array {
  return typeof content === 'string' ? Buffer.from(content, encodingOf(options)) : content;
}
