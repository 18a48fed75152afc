import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isId } from '../../../lib/ids.ts';
import { CopyDirectory } from './copy-directory.ts';
import type { CopyVolumes, VolumePriority } from './copy-volumes.ts';
import type { Ownership } from './directory/write-file.ts';
import type { CopySpace } from './space/space-limits.ts';
import type { SpaceMonitor } from './space/space-monitor.ts';

interface SandboxDirectoryOptions {
  /** Absolute. */
  path: string;
  /** Returns the path by which this process reaches an absolute path. */
  reach(path: string): string;
  owner: Ownership | undefined;
  /** The limit of each copy. */
  limit: CopySpace;
  maxFiles: number;
  monitor: SpaceMonitor;
  volumes: CopyVolumes | undefined;
  /** Whether the volume of the first copy exists. */
  hasSpare: boolean;
}

/** Lets other users pass through a directory whose entries they know. */
export const PASSABLE_MODE = 0o711;

/** The directory of one sandbox. */
export class SandboxDirectory {
  /** As this process reaches it. */
  readonly path: string;
  /** Used by providers that keep temporary files on disk. */
  readonly tmp: string;
  readonly home: string;
  /** The directory of the workspace copies, as programs in the mount namespace of the volumes see it. */
  readonly workspaces: string;
  /** The limit of each copy. */
  readonly limit: CopySpace;
  readonly #options: SandboxDirectoryOptions;
  readonly #copies = new Map<string, Promise<CopyDirectory>>();
  #lastNumber = 0;
  readonly #mountPoints: string[] = [];

  constructor(options: SandboxDirectoryOptions) {
    this.#options = options;
    this.limit = options.limit;
    this.path = options.reach(options.path);
    this.tmp = join(this.path, 'tmp');
    this.home = join(this.path, 'home');
    this.workspaces = join(options.path, 'workspaces');
    if (options.hasSpare) this.#mountPoints.push(join(this.workspaces, '1'));
  }

  /** Returns the copy of a workspace. Creates it when it is missing. */
  copy(workspaceId: string): Promise<CopyDirectory> {
    if (!isId('wsp', workspaceId)) throw new Error(`Invalid workspace id ${JSON.stringify(workspaceId)}.`);
    const existing = this.#copies.get(workspaceId);
    if (existing) return existing;
    const created = this.#create();
    this.#copies.set(workspaceId, created);
    created.catch(() => this.#copies.delete(workspaceId));
    return created;
  }

  /**
   * Removes the copy of a workspace with its volume. No command may run in it. The volume is unmounted even while
   * commands run in other copies: a command sees the mount of its own copy only, and the kernel unmounts the volume in
   * the namespaces of the sandbox, too.
   */
  async removeCopy(workspaceId: string): Promise<void> {
    const { monitor } = this.#options;
    const copy = await this.#copies.get(workspaceId);
    if (!copy) return;
    this.#copies.delete(workspaceId);
    try {
      await copy.tree.clear();
      await this.#removeVolume(copy.name);
      rmSync(join(this.path, 'workspaces', copy.name), { recursive: true });
    } finally {
      monitor.forget(copy);
    }
  }

  async #removeVolume(name: string): Promise<void> {
    const { volumes } = this.#options;
    if (!volumes) return;
    const mountPoint = join(this.workspaces, name);
    await volumes.remove(mountPoint);
    this.#mountPoints.splice(this.#mountPoints.indexOf(mountPoint), 1);
    rmSync(join(this.path, 'images', name));
  }

  /** Unmounts the volumes. No command may run any more. */
  async close(): Promise<void> {
    const { volumes, monitor } = this.#options;
    const copies = await Promise.allSettled(this.#copies.values());
    this.#copies.clear();
    for (const { value } of copies.filter((one) => one.status === 'fulfilled')) monitor.forget(value);
    for (const mountPoint of this.#mountPoints.splice(0)) await volumes?.remove(mountPoint);
  }

  /** Creates the volume of a copy below a sandbox directory. */
  static async createVolume(
    volumes: CopyVolumes | undefined,
    reachable: string,
    path: string,
    number: number,
    limit: CopySpace,
    priority?: VolumePriority,
  ): Promise<void> {
    makePassable(join(reachable, 'workspaces', `${number}`));
    await volumes?.create(
      join(path, 'images', `${number}`),
      join(path, 'workspaces', `${number}`),
      limit,
      priority,
    );
  }

  async #create(): Promise<CopyDirectory> {
    const { volumes, hasSpare, owner, limit, maxFiles, monitor, path } = this.#options;
    const number = ++this.#lastNumber;
    if (number > 1 || !hasSpare) {
      await SandboxDirectory.createVolume(volumes, this.path, path, number, limit);
      if (volumes) this.#mountPoints.push(join(this.workspaces, `${number}`));
    }
    const image = join(path, 'images', `${number}`);
    const copy = new CopyDirectory({
      sandboxId: basename(path),
      path: join(this.path, 'workspaces', `${number}`),
      name: `${number}`,
      owner,
      limit,
      maxFiles,
      volume: volumes && { usedBytes: () => volumes.usedBytes(image) },
      monitor,
    });
    monitor.count(copy);
    return copy;
  }
}

/** Creates a directory through which the user of a sandbox may pass. Other users cannot enter the ones above. */
export function makePassable(path: string): void {
  mkdirSync(path);
  chmodSync(path, PASSABLE_MODE);
}
