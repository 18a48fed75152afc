import { randomBytes } from 'node:crypto';

/**
 * Where the bytes of files are kept: objects under random keys, written once and never changed. What an object is,
 * whose it is and whether its bytes are still the right ones is for whoever keeps the keys to know.
 *
 * Every method is refused with DEPENDENCY_UNAVAILABLE while the store cannot be used.
 */
export interface Blobs {
  /** For an operator: what it is and where. Never a secret. */
  readonly about: string;
  /**
   * Keeps the bytes under a new key. Once this resolves they outlast a loss of power. When the source fails, or the
   * signal aborts, nothing is kept. Refused with STORAGE_FULL.
   */
  write(bytes: Source, options?: WriteBlob): Promise<StoredBlob>;
  /** The bytes, or those of a range; fewer come when there are no more. Throws BlobMissing. */
  read(key: string, range?: Range, signal?: AbortSignal): AsyncIterable<Uint8Array>;
  /** Undefined when there is no such object. */
  sizeOf(key: string): Promise<number | undefined>;
  /** Nothing happens when there is none. */
  delete(key: string): Promise<void>;
  /** All objects after this key, in the order of their keys. */
  list(after?: string): AsyncIterable<ListedBlob>;
  /** Removes what writes have left behind that never ended and began before this. Returns how many. */
  tidy(before: Date): Promise<number>;
  /** Fails when nothing can be read or written at the moment. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** In pieces of any size. */
export type Source = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

export interface WriteBlob {
  /** Absent: a random one. */
  key?: string;
  signal?: AbortSignal;
}

export interface StoredBlob {
  key: string;
  /** In bytes. */
  size: number;
}

export interface ListedBlob extends StoredBlob {
  writtenAt: Date;
}

export interface Range {
  /** The first byte. */
  offset: number;
  /** Bytes; absent for all that follow. */
  length?: number;
}

/** There is no object under that key. */
export class BlobMissing extends Error {
  override readonly name = 'BlobMissing';

  constructor(key: string) {
    super(`there is no object ${key}`);
  }
}

/** The store cannot be used as it is set up; the start screen shows it with its way out. */
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

/** 160 random bits: nobody can guess where something is, and nothing of what it is can be read from it. */
export function newKey(): string {
  return randomBytes(20).toString('hex');
}

/** Keys become names of files. */
export function checkKey(key: string): string {
  if (!KEY.test(key)) throw new TypeError('that is no key of an object');
  return key;
}
