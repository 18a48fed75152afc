import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { refuse } from '../../lib/errors.ts';

/** Bytes are checked in blocks of this size when only some of them are read. */
export const BLOCK_BYTES = 1024 * 1024;

export interface Digest {
  size: number;
  /** Lowercase hexadecimal. */
  sha256: string;
  /** A CRC-32 of each block, big-endian. */
  checks: Buffer;
}

/** What bytes are recognised by, found out while they pass. */
export class Digester {
  #size = 0;
  #crc = 0;
  readonly #sha256 = createHash('sha256');
  readonly #checks: number[] = [];
  readonly #most: number;
  readonly #declared: number | undefined;

  /** `most` bytes may come, and exactly `declared` where that is known. */
  constructor(most: number, declared?: number) {
    if (declared !== undefined && (!Number.isSafeInteger(declared) || declared < 0))
      throw refuse('INVALID_REQUEST', 'that is no size of a file');
    this.#most = most;
    this.#declared = declared;
    if (declared !== undefined && declared > most) throw tooLarge(most);
  }

  /** Refused with FILE_TOO_LARGE, or INVALID_REQUEST when there are more than were declared. */
  update(piece: Uint8Array): void {
    for (let from = 0; from < piece.length; ) {
      const part = piece.subarray(from, from + BLOCK_BYTES - (this.#size % BLOCK_BYTES));
      this.#crc = crc32(part, this.#crc);
      this.#size += part.length;
      from += part.length;
      if (this.#size % BLOCK_BYTES === 0) this.#endBlock();
    }
    if (this.#size > this.#most) throw tooLarge(this.#most);
    if (this.#size > (this.#declared ?? this.#size)) throw this.#differs();
    this.#sha256.update(piece);
  }

  finish(): Digest {
    if (this.#declared !== undefined && this.#size !== this.#declared) throw this.#differs();
    if (this.#size % BLOCK_BYTES > 0) this.#endBlock();
    const checks = Buffer.alloc(4 * this.#checks.length);
    for (const [index, check] of this.#checks.entries()) checks.writeUInt32BE(check, 4 * index);
    return { size: this.#size, sha256: this.#sha256.digest('hex'), checks };
  }

  async *watch(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of source) {
      this.update(piece);
      yield piece;
    }
  }

  #endBlock(): void {
    this.#checks.push(this.#crc);
    this.#crc = 0;
  }

  #differs() {
    return refuse(
      'INVALID_REQUEST',
      `the content does not have the ${this.#declared} bytes that were announced`,
    );
  }
}

function tooLarge(most: number) {
  return refuse('FILE_TOO_LARGE', `a file may have ${most} bytes`);
}
