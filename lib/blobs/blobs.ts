import { randomBytes } from 'node:crypto';

/**
 * Stores the bytes of files as objects under random keys. Objects are written once and never changed. The callers
 * record the owner, the content type and the digest of an object.
 *
 * Every method fails with DEPENDENCY_UNAVAILABLE while the store cannot be used.
 */
export interface Blobs {
  /** The kind of store and its location, for operators. Contains no secret. */
  readonly description: string;
  /**
   * Stores the bytes under a new key. Once this resolves, they survive a power failure. Fails with STORAGE_FULL. After a
   * failure nothing stays in the store: remains that cannot be removed at once are removed when the store works again.
   */
  write(bytes: ByteSource, options?: BlobWriteOptions): Promise<StoredBlob>;
  /** Yields the bytes, or those of a range; a range may reach past the end. Throws BlobMissing. */
  read(key: string, range?: ByteRange, signal?: AbortSignal): AsyncIterable<Uint8Array>;
  /** Size in bytes; undefined for an unknown key. */
  sizeOf(key: string): Promise<number | undefined>;
  /** Does nothing for an unknown key. */
  delete(key: string): Promise<void>;
  /**
   * Deletes an object that nothing refers to, in the background. Deletions that fail are repeated until they succeed or the
   * process ends.
   */
  discard(key: string): void;
  /** All objects after this key, in the order of their keys. */
  list(after?: string): AsyncIterable<ListedBlob>;
  /** Deletes the remains of writes that began before this time and never ended. Returns their number. */
  deleteIncompleteWrites(before: Date): Promise<number>;
  /**
   * Writes and reads a small object, at most once a second. Fails while the store cannot be read or written, with
   * STORAGE_FULL while it has no space left.
   */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Chunks of any size. */
export type ByteSource = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

interface BlobWriteOptions {
  /** Default: a random key. */
  key?: string;
  signal?: AbortSignal;
}

interface StoredBlob {
  key: string;
  /** In bytes. */
  size: number;
}

export interface ListedBlob extends StoredBlob {
  writtenAt: Date;
}

export interface ByteRange {
  /** Position of the first byte. */
  offset: number;
  /** Number of bytes. Default: all that follow. */
  length?: number;
}

/** The store has no object under this key. */
export class BlobMissing extends Error {
  override readonly name = 'BlobMissing';

  constructor(key: string) {
    super(`Unknown object ${key}.`);
  }
}

/** The key does not have the form of `newKey`. */
export class InvalidBlobKey extends TypeError {
  override readonly name = 'InvalidBlobKey';
}

/** The store cannot be used with the current settings. The start screen shows the problem and its remedy. */
export class BlobsProblem extends Error {
  override readonly name = 'BlobsProblem';
  readonly variable: string;
  readonly expected: string;
  readonly fix: string;

  constructor(variable: string, problem: string, expected: string, fix: string, cause?: unknown) {
    super(problem, { cause });
    this.variable = variable;
    this.expected = expected;
    this.fix = fix;
  }
}

const KEY = /^[0-9a-f]{40}$/;

/** A key of 160 random bits: it cannot be guessed and says nothing about its object. */
export function newKey(): string {
  return randomBytes(20).toString('hex');
}

/** Returns the key. Throws InvalidBlobKey, because keys become file names. */
export function checkKey(key: string): string {
  if (!KEY.test(key))
    throw new InvalidBlobKey('The object key is malformed: expected 40 hexadecimal digits.');
  return key;
}
