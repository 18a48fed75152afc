import { shownBytes } from '../../sandbox/shown-bytes.ts';
import type { DiskSpace } from './disk-reserve.ts';
import type { CopySpace } from './space-limits.ts';

/** A workspace copy whose space is monitored. */
export interface MonitoredCopy {
  /** sbx_… */
  readonly sandboxId: string;
  /** The limit that the monitor must enforce; undefined when the kernel enforces it. */
  readonly limit: CopySpace | undefined;
  /** The space that the copy used when it was last measured. It is current for copies with `isCheap`. */
  readonly knownSpace: CopySpace;
  /** Whether knownSpace is current, so that measure() is never needed. */
  readonly isCheap: boolean;
  /** The limit that the kernel enforces and that is used up, as a clause. */
  readonly fullLimit: string | undefined;
  /** Measures the copy. Takes time in proportion to its number of files. */
  measure(): Promise<CopySpace>;
}

/** A command may use a full copy for this time, to remove files. */
const MAX_FULL_MS = 1_000;
/** A copy that has grown by less than both does not cause a shortage. */
const SIGNIFICANT_BYTES = 1024 * 1024;
const SIGNIFICANT_ENTRIES = 1_000;

interface SpaceWatchOptions {
  readDisk(): DiskSpace;
  onEnd(limit: string): void;
  onStop(wasEnded: boolean): void;
}

/** One running command and the copy that it writes. */
export class SpaceWatch {
  readonly copy: MonitoredCopy;
  readonly #options: SpaceWatchOptions;
  readonly #atStart: CopySpace;
  /** The disk when the copy was last measured. */
  #disk: DiskSpace;
  #measuring: Promise<void> | undefined;
  #fullSince: number | undefined;
  isEnded = false;

  constructor(copy: MonitoredCopy, options: SpaceWatchOptions) {
    this.copy = copy;
    this.#options = options;
    this.#atStart = copy.knownSpace;
    this.#disk = options.readDisk();
  }

  get isMeasuring(): boolean {
    return this.#measuring !== undefined;
  }

  /** Bytes by which the copy has grown since the command started, as last measured. */
  get growth(): number {
    return this.copy.knownSpace.bytes - this.#atStart.bytes;
  }

  /** Whether the copy can have grown enough to matter. */
  isSignificant(disk: DiskSpace): boolean {
    const { bytes, entries } = this.copy.knownSpace;
    const addedBytes = bytes - this.#atStart.bytes + this.unmeasuredBytes(disk);
    const addedEntries = entries - this.#atStart.entries + this.#unmeasuredEntries(disk);
    return addedBytes >= SIGNIFICANT_BYTES || addedEntries >= SIGNIFICANT_ENTRIES;
  }

  /** The most that the copy can have grown since it was measured: the growth of the whole disk. */
  unmeasuredBytes({ usedBytes }: DiskSpace): number {
    return this.copy.isCheap ? 0 : Math.max(0, usedBytes - this.#disk.usedBytes);
  }

  #unmeasuredEntries({ usedInodes }: DiskSpace): number {
    return this.copy.isCheap ? 0 : Math.max(0, usedInodes - this.#disk.usedInodes);
  }

  /** The space that is certainly left below the limit of the copy. */
  left(disk: DiskSpace): CopySpace {
    const { limit, knownSpace } = this.copy;
    if (!limit) return { bytes: Number.POSITIVE_INFINITY, entries: Number.POSITIVE_INFINITY };
    return {
      bytes: limit.bytes - knownSpace.bytes - this.unmeasuredBytes(disk),
      entries: limit.entries - knownSpace.entries - this.#unmeasuredEntries(disk),
    };
  }

  mayExceedLimit(disk: DiskSpace): boolean {
    const { bytes, entries } = this.left(disk);
    return bytes < 0 || entries < 0;
  }

  /** Measures the copy, and ends the command when the copy is above its limit. */
  async endAboveLimit(): Promise<void> {
    await this.measure();
    const reached = this.#reachedLimit();
    if (reached !== undefined) this.end(reached);
  }

  /** Ends the command when its copy has been full for a while: it may repeat its writes forever. */
  endWhenFull(now: number): void {
    const limit = this.copy.fullLimit;
    this.#fullSince = limit === undefined ? undefined : (this.#fullSince ?? now);
    if (this.#fullSince !== undefined && now - this.#fullSince >= MAX_FULL_MS) this.end(limit);
  }

  /** Concurrent callers share one measurement. */
  measure(): Promise<void> {
    if (this.copy.isCheap) return Promise.resolve();
    this.#measuring ??= this.#measure().finally(() => {
      this.#measuring = undefined;
    });
    return this.#measuring;
  }

  async #measure(): Promise<void> {
    // Entries that are created while the copy is measured may be missed.
    const disk = this.#options.readDisk();
    await this.copy.measure().catch(() => {});
    this.#disk = disk;
  }

  end(limit: string | undefined): void {
    if (this.isEnded || limit === undefined) return;
    this.isEnded = true;
    this.#options.onEnd(limit);
  }

  /** Ends the watch after the command has ended. Returns the limit that the copy is above, as a clause. */
  async stop(): Promise<string | undefined> {
    try {
      if (this.isEnded || !this.mayExceedLimit(this.#options.readDisk())) return undefined;
      await this.measure();
      return this.#reachedLimit();
    } finally {
      this.#options.onStop(this.isEnded);
    }
  }

  #reachedLimit(): string | undefined {
    const { limit, knownSpace } = this.copy;
    if (!limit) return undefined;
    if (knownSpace.bytes > limit.bytes)
      return `the copy of the workspace exceeded its limit of ${shownBytes(limit.bytes)}`;
    if (knownSpace.entries > limit.entries)
      return `the copy of the workspace exceeded its limit of ${limit.entries / 2} files and ${limit.entries / 2} directories`;
    return undefined;
  }
}
