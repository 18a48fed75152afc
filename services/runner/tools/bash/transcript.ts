import type { TextRange } from '../../tool-calls/tool-call.ts';
import { StderrRanges } from './stderr-ranges.ts';

/** More chunks are joined, because a chunk of one byte uses hundreds of bytes of memory. */
const MAX_CHUNKS = 1_024;

/** Keeps the output of a command: all bytes up to a limit, and above it the first and the last half of the limit. */
export class Transcript {
  readonly #half: number;
  #head: Uint8Array[] = [];
  #headBytes = 0;
  #tail: Uint8Array[] = [];
  #tailBytes = 0;
  readonly #stderr = new StderrRanges();
  /** The number of bytes that were printed. */
  bytes = 0;

  constructor(maxBytes: number) {
    this.#half = Math.floor(maxBytes / 2);
  }

  add(bytes: Uint8Array, stream: 'stdout' | 'stderr'): void {
    if (stream === 'stderr') this.#stderr.add(this.bytes, this.bytes + bytes.length);
    this.bytes += bytes.length;
    const freeBytes = this.#half - this.#headBytes;
    if (freeBytes > 0) {
      this.#head.push(bytes.slice(0, freeBytes));
      this.#headBytes += Math.min(freeBytes, bytes.length);
      if (this.#head.length > MAX_CHUNKS) this.#head = [Buffer.concat(this.#head)];
    }
    if (bytes.length > freeBytes) this.#addToTail(bytes.slice(Math.max(0, freeBytes)));
  }

  /** The byte ranges of the output that were printed to stderr. */
  get stderrRanges(): readonly TextRange[] {
    return this.#stderr.ranges;
  }

  /** `leftOut` is the number of bytes that are missing between head and tail. */
  get kept(): { head: Buffer; tail: Buffer; leftOut: number } {
    const tail = Buffer.concat(this.#tail).subarray(-this.#half);
    return {
      head: Buffer.concat(this.#head),
      tail: this.#tailBytes === 0 ? Buffer.alloc(0) : tail,
      leftOut: this.bytes - this.#headBytes - (this.#tailBytes === 0 ? 0 : tail.length),
    };
  }

  #addToTail(bytes: Uint8Array): void {
    this.#tail.push(bytes);
    this.#tailBytes += bytes.length;
    for (
      let first = this.#tail[0];
      first && this.#tailBytes - first.length >= this.#half;
      first = this.#tail[0]
    ) {
      this.#tail.shift();
      this.#tailBytes -= first.length;
    }
    if (this.#tail.length <= MAX_CHUNKS) return;
    const joined = Buffer.concat(this.#tail).subarray(-this.#half);
    this.#tail = [joined];
    this.#tailBytes = joined.length;
  }
}
