import type { CpOptions, FileContent, FsStat, IFileSystem, MkdirOptions, RmOptions } from 'just-bash';
import * as disk from './disk.ts';
import { FsError, type Mount, resolve, type Spot } from './names.ts';
import type { Space } from './space.ts';

type DirentEntry = Awaited<ReturnType<NonNullable<IFileSystem['readdirWithFileTypes']>>>[number];
type Encoding = Parameters<IFileSystem['readFile']>[1];

/**
 * The files that a simulated shell sees: its workspace, its temporary files and its home are directories of this
 * machine, all else is made up and can only be read.
 */
export class SimulatedFiles implements IFileSystem {
  readonly #system: IFileSystem;
  readonly #mounts: readonly Mount[];
  readonly #space: Space;

  constructor(system: IFileSystem, mounts: readonly Mount[], space: Space) {
    this.#system = system;
    this.#mounts = mounts;
    this.#space = space;
  }

  async readFile(path: string, options?: Encoding): Promise<string> {
    return Buffer.from(await this.readFileBuffer(path)).toString(encodingOf(options));
  }

  async readFileBuffer(path: string): Promise<Uint8Array> {
    const spot = this.#spot(path);
    return spot.kind === 'disk' ? disk.read(spot) : this.#system.readFileBuffer(spot.path);
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
    const spot = this.#spot(path);
    return spot.kind === 'disk' ? disk.lookAt(spot) : this.#system.stat(spot.path);
  }

  async lstat(path: string): Promise<FsStat> {
    const spot = this.#spot(path, false);
    return spot.kind === 'disk' ? disk.lookAt(spot) : this.#system.lstat(spot.path);
  }

  async mkdir(path: string, { recursive = false }: MkdirOptions = {}): Promise<void> {
    const spot = this.#spot(path);
    if (recursive && (await this.#isDirectory(spot))) return;
    if (await this.exists(spot.path)) throw new FsError('EEXIST', 'file already exists, mkdir', path);
    if (spot.kind === 'system') throw readOnly('mkdir', path);
    if (recursive) disk.makeDirectories(spot);
    else disk.makeDirectory(spot);
  }

  async readdir(path: string): Promise<string[]> {
    return (await this.readdirWithFileTypes(path)).map(({ name }) => name);
  }

  async readdirWithFileTypes(path: string): Promise<DirentEntry[]> {
    const spot = this.#spot(path);
    if (spot.kind === 'disk') return disk.list(spot);
    const names = await this.#system.readdir(spot.path);
    return Promise.all(
      names.map(async (name) => {
        const { isFile, isDirectory, isSymbolicLink } = await this.#system.lstat(join(spot.path, name));
        return { name, isFile, isDirectory, isSymbolicLink };
      }),
    );
  }

  async rm(path: string, { recursive = false, force = false }: RmOptions = {}): Promise<void> {
    const spot = this.#spot(path, false);
    if (force && !(await this.#isThere(spot))) return;
    if (spot.kind === 'system') throw readOnly('rm', path);
    if (spot.inner === '') throw new FsError('EBUSY', 'resource busy or locked, rm', path);
    const { isDirectory } = disk.lookAt(spot);
    if (isDirectory && recursive)
      for (const { name } of disk.list(spot)) await this.rm(join(spot.path, name), { recursive });
    disk.removeOne(spot, isDirectory);
  }

  async cp(source: string, target: string, { recursive = false }: CpOptions = {}): Promise<void> {
    const from = this.#spot(source, false);
    const stat = await this.lstat(from.path);
    if (stat.isSymbolicLink) return this.symlink(await this.readlink(from.path), target);
    if (!stat.isDirectory) {
      await this.writeFile(target, await this.readFileBuffer(from.path));
      await this.chmod(target, stat.mode);
      return;
    }
    if (!recursive) throw new FsError('EISDIR', 'is a directory, cp', source);
    const to = this.#spot(target);
    if (isBelow(to.path, from.path))
      throw new FsError('EINVAL', 'cannot copy a directory into itself, cp', source);
    await this.mkdir(to.path, { recursive: true });
    for (const name of await this.readdir(from.path))
      await this.cp(join(from.path, name), join(to.path, name), { recursive });
  }

  async mv(source: string, target: string): Promise<void> {
    const from = this.#spot(source, false);
    const to = this.#spot(target, false);
    if (from.kind === 'system') throw readOnly('mv', source);
    if (to.kind === 'system') throw readOnly('mv', target);
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
    disk.changeMode(this.#writable(path, 'chmod'), mode);
  }

  async symlink(target: string, path: string): Promise<void> {
    disk.putLink(this.#writable(path, 'symlink', false), target);
  }

  async link(existing: string, path: string): Promise<void> {
    const from = this.#writable(existing, 'link', false);
    const to = this.#writable(path, 'link', false);
    if (!disk.isSameMount(from.mount, to.mount))
      throw new FsError('EXDEV', 'cross-device link not permitted, link', existing);
    disk.hardLink(from, to);
  }

  async readlink(path: string): Promise<string> {
    const spot = this.#spot(path, false);
    return spot.kind === 'disk' ? disk.linkTarget(spot) : this.#system.readlink(spot.path);
  }

  async realpath(path: string): Promise<string> {
    const spot = this.#spot(path);
    await this.stat(spot.path);
    return spot.path;
  }

  async utimes(path: string, accessed: Date, modified: Date): Promise<void> {
    disk.changeTimes(this.#writable(path, 'utimes'), accessed, modified);
  }

  #spot(path: string, followLast = true): Spot {
    if (path.includes('\0')) throw new FsError('ENOENT', 'no such file or directory, open', path);
    return resolve(this.#mounts, path, followLast);
  }

  #writable(path: string, what: string, followLast = true): disk.DiskSpot {
    const spot = this.#spot(path, followLast);
    if (spot.kind === 'system') throw readOnly(what, path);
    return spot;
  }

  async #isDirectory({ path }: Spot): Promise<boolean> {
    try {
      return (await this.stat(path)).isDirectory;
    } catch {
      return false;
    }
  }

  async #isThere({ path }: Spot): Promise<boolean> {
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
    const spot = this.#spot(path);
    if (spot.kind === 'system') {
      // Devices are made up, too: they take what they are given, and keep nothing.
      if (isBelow(spot.path, '/dev') && (await this.#system.exists(spot.path))) return;
      throw readOnly('open', path);
    }
    disk.write(spot, bytesOf(content, options), mode, this.#space);
  }
}

const join = (above: string, name: string): string => (above === '/' ? `/${name}` : `${above}/${name}`);
const isBelow = (path: string, above: string): boolean => path === above || path.startsWith(`${above}/`);
const readOnly = (what: string, path: string) => new FsError('EROFS', `read-only file system, ${what}`, path);

function encodingOf(options: Encoding): BufferEncoding {
  const encoding = typeof options === 'string' ? options : options?.encoding;
  return encoding ?? 'utf8';
}

function bytesOf(content: FileContent, options: Encoding): Uint8Array {
  return typeof content === 'string' ? Buffer.from(content, encodingOf(options)) : content;
}
