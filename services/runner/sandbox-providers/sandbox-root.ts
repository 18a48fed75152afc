import { mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../../lib/clock.ts';
import { isId } from '../../../lib/ids.ts';
import type { CopyVolumes } from './copy-volumes.ts';
import { OpenDirectory } from './directory/open-directory.ts';
import { Staging, uniqueName } from './directory/staging.ts';
import type { Ownership } from './directory/write-file.ts';
import { makePassable, SandboxDirectory } from './sandbox-directory.ts';
import { type CopySpace, copyLimit, type SpaceLimits } from './space/space-limits.ts';
import type { SpaceMonitor } from './space/space-monitor.ts';

interface SandboxRootOptions {
  path: string;
  clock: Clock;
  limits: SpaceLimits;
  monitor: SpaceMonitor;
  /** Undefined when copies are plain directories. */
  volumes?: CopyVolumes | undefined;
}

interface NewSandbox {
  owner?: Ownership | undefined;
  /** The limit of each copy; undefined for that of workspaces. */
  workspaceMib?: number | undefined;
}

const TRASH = '.trash';
const MODE = 0o700;
/** Directories with a mounted volume that are prepared in advance, because mounting one takes 10 to 30 ms. */
const MAX_SPARES = 4;
/** The next ones are prepared after this time, when the command that took one has probably started. */
const REFILL_DELAY_MS = 1_000;

/** The directory with the sandboxes of one provider. Only the service may enter it. */
export class SandboxRoot {
  readonly path: string;
  readonly limits: SpaceLimits;
  readonly monitor: SpaceMonitor;
  readonly #clock: Clock;
  readonly #volumes: CopyVolumes | undefined;
  readonly #trash: Staging;
  readonly #directories = new Map<string, SandboxDirectory>();
  /** Directories in the trash, each with an empty volume of the default size. */
  readonly #spares: { name: string; limit: CopySpace }[] = [];
  #areSparesUsed = false;
  #isPreparing = false;

  constructor({ path, clock, limits, monitor, volumes }: SandboxRootOptions) {
    this.path = path;
    this.#clock = clock;
    this.limits = limits;
    this.monitor = monitor;
    this.#volumes = volumes;
    mkdirSync(this.#reach(join(path, TRASH)), { recursive: true, mode: MODE });
    this.#trash = new Staging(this.#reach(join(path, TRASH)));
  }

  /** Creates the directory of a sandbox atomically. */
  create(sandboxId: string, { owner, workspaceMib }: NewSandbox = {}): SandboxDirectory {
    const path = this.#pathOf(sandboxId);
    const limit = this.#limitOf(workspaceMib);
    const spare = this.#takeSpare(limit);
    renameSync(join(this.#trash.path, spare ?? this.#createSkeleton()), this.#reach(path));
    const { monitor, limits } = this;
    const directory = new SandboxDirectory({
      path,
      reach: (one) => this.#reach(one),
      owner,
      limit,
      maxFiles: limits.workspaceFiles,
      monitor,
      volumes: this.#volumes,
      hasSpare: spare !== undefined,
    });
    this.#directories.set(sandboxId, directory);
    if (spare !== undefined) this.#clock.after(REFILL_DELAY_MS, () => void this.#prepareSpares());
    return directory;
  }

  /** Returns the ids of all sandboxes that have a directory. */
  sandboxIds(): string[] {
    return readdirSync(this.#reach(this.path)).filter((name) => isId('sbx', name));
  }

  async remove(sandboxId: string): Promise<void> {
    await this.#directories.get(sandboxId)?.close();
    this.#directories.delete(sandboxId);
    using root = OpenDirectory.open(this.#reach(this.path));
    await this.#trash.remove(root, sandboxId);
  }

  /** Removes all sandboxes, and directories that an earlier process was creating or removing when it ended. */
  async sweep(): Promise<void> {
    await this.#trash.clear();
    for (const name of readdirSync(this.#reach(this.path))) if (name !== TRASH) await this.remove(name);
    this.monitor.restart();
    this.#areSparesUsed = this.#volumes !== undefined;
    void this.#prepareSpares();
  }

  #limitOf(workspaceMib: number | undefined): CopySpace {
    return copyLimit(workspaceMib, this.limits, this.monitor.totalBytes);
  }

  #takeSpare({ bytes }: CopySpace): string | undefined {
    if (this.#spares[0]?.limit.bytes !== bytes) return undefined;
    return this.#spares.shift()?.name;
  }

  #createSkeleton(): string {
    const name = uniqueName();
    const path = join(this.#trash.path, name);
    mkdirSync(path, { mode: MODE });
    for (const part of ['images', 'tmp', 'home']) mkdirSync(join(path, part), { mode: MODE });
    makePassable(join(path, 'workspaces'));
    return name;
  }

  /** A failure is reported when a sandbox creates its own volume. */
  async #prepareSpares(): Promise<void> {
    if (!this.#areSparesUsed || this.#isPreparing) return;
    this.#isPreparing = true;
    try {
      while (this.#spares.length < MAX_SPARES) {
        const name = this.#createSkeleton();
        const path = join(this.path, TRASH, name);
        const limit = this.#limitOf(undefined);
        await SandboxDirectory.createVolume(this.#volumes, this.#reach(path), path, 1, limit, 'low');
        this.#spares.push({ name, limit });
      }
    } catch {
      this.#areSparesUsed = false;
    } finally {
      this.#isPreparing = false;
    }
  }

  #pathOf(sandboxId: string): string {
    if (!isId('sbx', sandboxId)) throw new Error(`Invalid sandbox id ${JSON.stringify(sandboxId)}.`);
    return join(this.path, sandboxId);
  }

  #reach(path: string): string {
    return this.#volumes?.pathOf(path) ?? path;
  }
}
