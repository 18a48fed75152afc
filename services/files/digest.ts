import { createHash, type Hash, hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { refuse } from '../../lib/errors.ts';

/** Each block of this size has its own checksum, so that a range can be verified without reading the whole file. */
export const BLOCK_BYTES = 1024 * 1024;

export interface Digest {
  size: number;
  /** Lowercase hexadecimal. */
  sha256: string;
  /** The CRC-32 of each block, big-endian. */
  checks: Buffer;
}

/** Computes size and checksums of bytes while they are streamed. */
export class Digester {
  #size = 0;
  #crc = 0;
  /** The only piece so far. A Hash object takes native memory until the next full garbage collection. */
  #firstPiece: Uint8Array | undefined;
  /** Created for the second piece. */
  #sha256: Hash | undefined;
  readonly #checks: number[] = [];
  readonly #maxBytes: number;
  readonly #declaredSize: number | undefined;

  /** Accepts at most `maxBytes`, and exactly `declaredSize` bytes if that is given. */
  constructor(maxBytes: number, declaredSize?: number) {
    if (declaredSize !== undefined && (!Number.isSafeInteger(declaredSize) || declaredSize < 0))
      throw refuse('INVALID_REQUEST', 'The declared size must be a whole number of bytes, 0 or more.');
    this.#maxBytes = maxBytes;
    this.#declaredSize = declaredSize;
    if (declaredSize !== undefined && declaredSize > maxBytes) throw tooLarge(maxBytes);
  }

  /** Refused with FILE_TOO_LARGE, or with INVALID_REQUEST for more bytes than declared. */
  update(piece: Uint8Array): void {
    for (let from = 0; from < piece.length; ) {
      const part = piece.subarray(from, from + BLOCK_BYTES - (this.#size % BLOCK_BYTES));
      this.#crc = crc32(part, this.#crc);
      this.#size += part.length;
      from += part.length;
      if (this.#size % BLOCK_BYTES === 0) this.#endBlock();
    }
    if (this.#size > this.#maxBytes) throw tooLarge(this.#maxBytes);
    if (this.#size > (this.#declaredSize ?? this.#size)) throw this.#sizeMismatch();
    this.#hash(piece);
  }

  finish(): Digest {
    if (this.#declaredSize !== undefined && this.#size !== this.#declaredSize) throw this.#sizeMismatch();
    if (this.#size % BLOCK_BYTES > 0) this.#endBlock();
    const checks = Buffer.alloc(4 * this.#checks.length);
    for (const [index, check] of this.#checks.entries()) checks.writeUInt32BE(check, 4 * index);
    return { size: this.#size, sha256: this.#sha256Hex(), checks };
  }

  async *digestWhileReading(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of source) {
      this.update(piece);
      yield piece;
    }
  }

  #hash(piece: Uint8Array): void {
    if (!this.#sha256 && !this.#firstPiece) {
      this.#firstPiece = piece;
      return;
    }
    if (!this.#sha256) {
      this.#sha256 = createHash('sha256').update(this.#firstPiece ?? '');
      this.#firstPiece = undefined;
    }
    this.#sha256.update(piece);
  }

  #sha256Hex(): string {
    return this.#sha256?.digest('hex') ?? hash('sha256', this.#firstPiece ?? '');
  }

  #endBlock(): void {
    this.#checks.push(this.#crc);
    this.#crc = 0;
  }

  #sizeMismatch() {
    return refuse('INVALID_REQUEST', `The content does not have the declared ${this.#declaredSize} bytes.`);
  }
}

function tooLarge(maxBytes: number) {
  return refuse('FILE_TOO_LARGE', `A file must have at most ${maxBytes} bytes.`);
}
