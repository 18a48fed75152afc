import { randomFillSync } from 'node:crypto';
import { closeSync, openSync, rmSync, statfsSync, statSync, truncateSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Clock } from './clock.ts';
import { isStorageFull } from './errors.ts';
import type { Module } from './modules.ts';
import { startPeriodicTask } from './periodic-task.ts';

interface ReservedSpaceOptions {
  /** The file that holds the space. */
  path: string;
  clock: Clock;
  /** Called when the file cannot be written although the disk has space; once until it succeeds. */
  onFailure(error: unknown): void;
}

/** The size of two segments of PostgreSQL's log: every write of a full database begins with a new one. */
const BYTES = 32 * 1024 * 1024;
const CHUNK_BYTES = 1024 * 1024;
/** The file is written again when the disk has this much space beside it. */
const SPARE_BYTES = 64 * 1024 * 1024;
const CHECK_INTERVAL_MS = 5_000;

/**
 * A file that keeps disk space for the database. When the disk is full, an administrator's action frees it, so that the
 * action and its audit entry can be stored. It is written again when the disk has space.
 */
export class ReservedSpace implements Module {
  readonly name = 'reserved space';
  readonly #options: ReservedSpaceOptions;
  readonly #task: ReturnType<typeof startPeriodicTask>;

  private constructor(options: ReservedSpaceOptions) {
    this.#options = options;
    const { clock, onFailure } = options;
    const work = () => this.#restore();
    this.#task = startPeriodicTask({ clock, everyMs: CHECK_INTERVAL_MS, work, onFailure });
  }

  static async open(options: ReservedSpaceOptions): Promise<ReservedSpace> {
    const space = new ReservedSpace(options);
    await space.#restore().catch(options.onFailure);
    return space;
  }

  /** Runs an operation. When it fails because the disk is full, frees space and runs it again, at most twice. */
  async use<T>(operation: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await operation();
      } catch (error) {
        if (!isStorageFull(error) || !this.#release()) throw error;
      }
    }
  }

  async stop(): Promise<void> {
    await this.#task.stop();
  }

  /** Frees half of the space, or the rest. Returns whether there was any. */
  #release(): boolean {
    const bytes = this.#size;
    if (bytes === 0) return false;
    truncateSync(this.#options.path, bytes > BYTES / 2 ? BYTES / 2 : 0);
    return true;
  }

  get #size(): number {
    return statSync(this.#options.path, { throwIfNoEntry: false })?.size ?? 0;
  }

  async #restore(): Promise<void> {
    const { path } = this.#options;
    const missing = BYTES - this.#size;
    if (missing <= 0) return;
    closeSync(openSync(path, 'a', 0o600));
    const { bavail, bsize } = statfsSync(path);
    if (bavail * bsize < missing + SPARE_BYTES) return;
    try {
      await append(path, missing);
    } catch (error) {
      rmSync(path, { force: true });
      throw error;
    }
  }
}

/** Appends random bytes, which no file system can store in less space. */
async function append(path: string, bytes: number): Promise<void> {
  await using handle = await open(path, 'a');
  const chunk = randomFillSync(Buffer.allocUnsafe(CHUNK_BYTES));
  for (let left = bytes; left > 0; left -= CHUNK_BYTES)
    await handle.write(chunk.subarray(0, Math.min(left, CHUNK_BYTES)));
}
