import type { Clock } from '../../../../lib/clock.ts';
import { shownBytes } from '../../sandbox/shown-bytes.ts';
import type { DiskSpace } from './disk-reserve.ts';
import type { CopySpace } from './space-limits.ts';
import { type MonitoredCopy, SpaceWatch } from './space-watch.ts';

interface SpaceMonitorOptions {
  /** Reads the space of the disk that holds the copies. */
  readDisk(): DiskSpace;
  clock: Clock;
  /** Limit of all copies together; undefined for the free space at start. */
  totalBytes: number | undefined;
}

/** A command writes no more than this per second. The time until the next check follows from the space that is left. */
const MAX_BYTES_PER_MS = 4 * 1024 * 1024;
const MAX_ENTRIES_PER_MS = 500;
const MIN_INTERVAL_MS = 5;
const MAX_INTERVAL_MS = 100;
/** Time for the copy of an ended command to be emptied, before another command is ended. */
const COOLDOWN_MS = 1_000;
const MAX_DESCRIBED = 5;
/** Limit of all copies on a disk that is nearly full at start. */
const MIN_TOTAL_BYTES = 16 * 1024 * 1024;
/**
 * Watches the disk while commands run. It ends a command whose copy reaches a limit that the kernel does not enforce.
 * When the disk or the limit of all copies is used up, it ends the command whose copy has grown most. Copies are
 * measured only when the growth of the whole disk shows that a limit may be reached.
 */
export class SpaceMonitor {
  readonly #options: SpaceMonitorOptions;
  readonly #copies = new Map<MonitoredCopy, number>();
  /** Sum of the values of #copies. */
  #knownBytes = 0;
  readonly #watches = new Set<SpaceWatch>();
  #cancel = () => {};
  #isChoosing = false;
  #cooldownUntil = 0;
  #totalBytes: number;
  #hasRestarted = false;

  constructor(options: SpaceMonitorOptions) {
    this.#options = options;
    this.#totalBytes = this.#availableBytes();
  }

  /** The limit of all copies together. */
  get totalBytes(): number {
    return this.#totalBytes;
  }

  /** Determines the limit of all copies again, after those of an earlier process were removed. */
  restart(): void {
    if (!this.#hasRestarted) this.#totalBytes = this.#availableBytes();
    this.#hasRestarted = true;
  }

  /** Counts a copy towards the limit of all copies, or counts it again. */
  count(copy: MonitoredCopy): void {
    const { bytes } = copy.knownSpace;
    this.#knownBytes += bytes - (this.#copies.get(copy) ?? 0);
    this.#copies.set(copy, bytes);
  }

  forget(copy: MonitoredCopy): void {
    this.#knownBytes -= this.#copies.get(copy) ?? 0;
    this.#copies.delete(copy);
  }

  /** Returns the free space above the reserve, and within the limit of all copies. */
  freeBytes(): number {
    const { freeBytes } = this.#readDisk();
    if (this.#totalBytes - this.#knownBytes < freeBytes) this.#countAll();
    return Math.min(freeBytes, this.#totalBytes - this.#knownBytes);
  }

  /** Counts all copies again: some may have been emptied or scanned since. */
  #countAll(): void {
    for (const copy of this.#copies.keys()) this.count(copy);
  }

  #availableBytes(): number {
    const { totalBytes } = this.#options;
    return totalBytes ?? Math.max(MIN_TOTAL_BYTES, this.#readDisk().freeBytes + this.#knownBytes);
  }

  /** Describes the space of the disk and the largest copies, for administrators. */
  describe(): string {
    this.#countAll();
    const largest = [...this.#copies]
      .sort(([, one], [, other]) => other - one)
      .slice(0, MAX_DESCRIBED)
      .map(([{ sandboxId }, bytes]) => `${sandboxId} ${shownBytes(bytes)}`);
    const used = `${shownBytes(this.#knownBytes)} of ${shownBytes(this.#totalBytes)} used by ${this.#copies.size} copies`;
    const free = `${shownBytes(Math.max(0, this.#readDisk().freeBytes))} of the disk free above the reserve`;
    return [used, free, ...(largest.length > 0 ? [`largest: ${largest.join(', ')}`] : [])].join('; ');
  }

  /** Watches the copy of a running command. `end` is called once with the limit that was reached, as a clause. */
  watch(copy: MonitoredCopy, end: (limit: string) => void): SpaceWatch {
    this.count(copy);
    const watch = new SpaceWatch(copy, {
      readDisk: () => this.#readDisk(),
      onEnd: end,
      onStop: (wasEnded) => this.#stopped(watch, wasEnded),
    });
    this.#watches.add(watch);
    if (this.#watches.size === 1) this.#check();
    return watch;
  }

  #stopped(watch: SpaceWatch, wasEnded: boolean): void {
    this.#watches.delete(watch);
    this.count(watch.copy);
    if (wasEnded) this.#cooldownUntil = this.#now() + COOLDOWN_MS;
    if (this.#watches.size === 0) this.#cancel();
  }

  #check(): void {
    let interval = MAX_INTERVAL_MS;
    try {
      interval = this.#checkAll();
    } catch {
      // The disk could not be read. An exception in a timer would end the process; the next check reads the disk again.
    }
    this.#cancel = this.#options.clock.after(interval, () => this.#check());
  }

  /** Returns the milliseconds until the next check. */
  #checkAll(): number {
    const disk = this.#readDisk();
    let left = { bytes: disk.freeBytes, entries: disk.freeInodes };
    for (const watch of this.#watches) {
      if (watch.copy.isCheap) this.count(watch.copy);
      left = least(left, watch.left(disk));
      if (watch.mayExceedLimit(disk)) watch.endAboveLimit().catch(ignore);
      watch.endWhenFull(this.#now());
    }
    left.bytes = Math.min(left.bytes, this.#totalBytes - this.#boundOf(disk));
    if (left.bytes < 0 || disk.freeInodes < 0) this.#endLargest(disk).catch(ignore);
    const interval = Math.min(left.bytes / MAX_BYTES_PER_MS, left.entries / MAX_ENTRIES_PER_MS);
    return Math.round(Math.min(MAX_INTERVAL_MS, Math.max(MIN_INTERVAL_MS, interval)));
  }

  /** The most that all copies together can use. */
  #boundOf(disk: DiskSpace): number {
    let bound = this.#knownBytes;
    for (const watch of this.#watches) bound += watch.unmeasuredBytes(disk);
    return bound;
  }

  async #endLargest(disk: DiskSpace): Promise<void> {
    const isUrgent = disk.freeBytes < -disk.reservedBytes / 2 || disk.freeInodes < -disk.reservedInodes / 2;
    const running = [...this.#watches].filter(({ isEnded }) => !isEnded);
    if (isUrgent && this.#isChoosing) {
      // Measuring takes too long: the disk would be full before it is done.
      for (const watch of running)
        if (watch.isMeasuring && watch.isSignificant(disk)) watch.end(this.#reason(disk));
      return;
    }
    if (this.#isChoosing || (!isUrgent && this.#now() < this.#cooldownUntil)) return;
    if (running.length < this.#watches.size && !isUrgent) return;
    this.#isChoosing = true;
    try {
      await Promise.all(running.map((watch) => watch.measure()));
      // Excludes copies that were removed while they were measured.
      this.#countAll();
      const now = this.#readDisk();
      const reason = this.#reason(now);
      const [largest] = running
        .filter((watch) => !watch.isEnded && watch.isSignificant(now))
        .sort((one, other) => other.growth - one.growth);
      if (reason !== undefined) largest?.end(reason);
    } finally {
      this.#isChoosing = false;
    }
  }

  /** Why a command must end, as a clause; undefined when there is space. */
  #reason({ freeBytes, freeInodes }: DiskSpace): string | undefined {
    if (freeBytes < 0 || freeInodes < 0)
      return 'the disk of the runner was nearly full, and the copy of this workspace had grown most';
    const total = this.#totalBytes;
    if (this.#knownBytes < total) return undefined;
    return `the workspace copies of the runner reached their common limit of ${shownBytes(total)}, and this one had grown most`;
  }

  #readDisk(): DiskSpace {
    return this.#options.readDisk();
  }

  #now(): number {
    return this.#options.clock.now().getTime();
  }
}

/** The next check repeats what failed. */
const ignore = () => {};

function least(one: CopySpace, other: CopySpace): CopySpace {
  return { bytes: Math.min(one.bytes, other.bytes), entries: Math.min(one.entries, other.entries) };
}
