import { Refusal, refuse } from '../../../lib/errors.ts';
import { abortable } from '../../../lib/grpc/abortable.ts';
import type { Client } from '../../../lib/grpc/contract.ts';
import type { Trace } from '../../../lib/trace.ts';
import type { FilesServiceDefinition } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { Lease } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { describePart, type PartReference } from './reference.ts';

/** The bytes of a part cannot be read, and a repetition would fail, too. The message is for the session's owner. */
export class PartUnavailable extends Error {
  override readonly name = 'PartUnavailable';
}

/** The turn on whose behalf parts are read. */
export interface ReadingTurn {
  lease: Lease;
  /** usr_…: users do not share bytes. */
  ownerId: string;
  trace: Trace;
}

/** Parts in memory until `release`. */
export interface LoadedParts {
  bytesOf(part: PartReference): Buffer;
  release(): void;
}

interface Entry {
  bytes: Promise<Buffer>;
  size: number;
  /** Requests that use the bytes now. */
  users: number;
}

interface Waiting {
  size: number;
  resolve(): void;
}

interface Limits {
  /** The sum of the parts of all requests that run at the same time, in bytes. Larger than the parts of one request. */
  maxUsedBytes: number;
  /** Parts that no request uses and that stay for the next one, in bytes. */
  maxIdleBytes: number;
}

const MIB = 1024 * 1024;
const LIMITS: Limits = { maxUsedBytes: 128 * MIB, maxIdleBytes: 64 * MIB };
/** Neither a repetition nor another runner would help. */
const PERMANENT = new Set<string>(['PART_NOT_FOUND', 'CONTENT_DAMAGED']);

/**
 * Reads the bytes of parts from the files service. All turns of a runner share the bytes of the same owner. A request
 * whose parts exceed the memory that is free waits for the end of others.
 */
export class PartBytes {
  readonly #files: Pick<Client<FilesServiceDefinition>, 'readPart'>;
  readonly #limits: Limits;
  /** From the least to the most recently used. */
  readonly #entries = new Map<string, Entry>();
  readonly #waiting: Waiting[] = [];
  #usedBytes = 0;

  constructor(files: Pick<Client<FilesServiceDefinition>, 'readPart'>, limits: Limits = LIMITS) {
    this.#files = files;
    this.#limits = limits;
  }

  /** Rejects with PartUnavailable, with a refusal of the files service, or when the signal aborts. */
  async load(parts: readonly PartReference[], turn: ReadingTurn, signal: AbortSignal): Promise<LoadedParts> {
    const unique = [...new Map(parts.map((part) => [part.sha256, part])).values()];
    const size = unique.reduce((sum, part) => sum + part.size, 0);
    await this.#reserve(size, signal);
    const loaded = new Map<string, Buffer>();
    const used: Entry[] = [];
    const release = () => {
      for (const entry of used.splice(0)) entry.users--;
      this.#evict();
      this.#free(size);
    };
    try {
      for (const part of unique) {
        const entry = await this.#find(part, turn, signal);
        entry.users++;
        used.push(entry);
        loaded.set(part.sha256, await entry.bytes);
      }
    } catch (error) {
      release();
      throw error;
    }
    return { bytesOf: ({ sha256 }) => loaded.get(sha256) ?? Buffer.alloc(0), release };
  }

  async #find(part: PartReference, turn: ReadingTurn, signal: AbortSignal): Promise<Entry> {
    const key = `${turn.ownerId} ${part.sha256}`;
    const known = this.#entries.get(key);
    if (known && (await this.#isLoaded(known, signal))) {
      this.#entries.delete(key);
      this.#entries.set(key, known);
      return known;
    }
    // A read of another turn may have failed because that turn lost its lease.
    const entry: Entry = { bytes: this.#read(part, turn), size: part.size, users: 0 };
    this.#entries.set(key, entry);
    try {
      await abortable(entry.bytes, signal);
    } catch (error) {
      entry.bytes.catch(() => this.#entries.get(key) === entry && this.#entries.delete(key));
      throw error;
    }
    return entry;
  }

  async #isLoaded({ bytes }: Entry, signal: AbortSignal): Promise<boolean> {
    try {
      await abortable(bytes, signal);
      return true;
    } catch (error) {
      if (signal.aborted) throw error;
      return false;
    }
  }

  /** Continues when a turn that waits for it stops, because other turns may wait for the same bytes. */
  async #read(part: PartReference, { lease, trace }: ReadingTurn): Promise<Buffer> {
    const bytes = Buffer.allocUnsafeSlow(part.size);
    let length = 0;
    try {
      const request = { sessionId: lease.sessionId, lease, sha256: part.sha256 };
      for await (const answer of this.#files.readPart(request, { trace })) {
        if (length + answer.bytes.length <= bytes.length) bytes.set(answer.bytes, length);
        length += answer.bytes.length;
      }
      if (length !== part.size) throw refuse('CONTENT_DAMAGED', `The part has ${length} bytes.`);
    } catch (error) {
      if (!(error instanceof Refusal) || !PERMANENT.has(error.code)) throw error;
      const problem = `The bytes of the part [${describePart(part)}] of a message are missing or damaged.`;
      throw new PartUnavailable(problem, { cause: error });
    }
    return bytes;
  }

  async #reserve(size: number, signal: AbortSignal): Promise<void> {
    if (this.#waiting.length === 0 && this.#hasRoom(size)) {
      this.#usedBytes += size;
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = { size, resolve };
    this.#waiting.push(waiting);
    try {
      await abortable(promise, signal);
    } catch (error) {
      const index = this.#waiting.indexOf(waiting);
      if (index >= 0) this.#waiting.splice(index, 1);
      else this.#usedBytes -= size;
      this.#wake();
      throw error;
    }
  }

  #free(size: number): void {
    this.#usedBytes -= size;
    this.#wake();
  }

  #wake(): void {
    for (let [next] = this.#waiting; next && this.#hasRoom(next.size); [next] = this.#waiting) {
      this.#waiting.shift();
      this.#usedBytes += next.size;
      next.resolve();
    }
  }

  /** A single request gets room even if it exceeds the limit. */
  #hasRoom(size: number): boolean {
    return this.#usedBytes === 0 || this.#usedBytes + size <= this.#limits.maxUsedBytes;
  }

  /** Removes the least recently used bytes that no request uses. */
  #evict(): void {
    const idle = [...this.#entries].filter(([, { users }]) => users === 0);
    let bytes = idle.reduce((sum, [, { size }]) => sum + size, 0);
    for (const [key, { size }] of idle) {
      if (bytes <= this.#limits.maxIdleBytes) return;
      this.#entries.delete(key);
      bytes -= size;
    }
  }
}
