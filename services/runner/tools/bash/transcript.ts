/** The bytes that something prints: all of them up to a limit, and beyond it the beginning and the end. */
export class Transcript {
  readonly #half: number;
  #head: Uint8Array[] = [];
  #headBytes = 0;
  #tail: Uint8Array[] = [];
  #tailBytes = 0;
  /** Printed in all. */
  bytes = 0;

  constructor(maxBytes: number) {
    this.#half = Math.floor(maxBytes / 2);
  }

  add(bytes: Uint8Array): void {
    this.bytes += bytes.length;
    const room = this.#half - this.#headBytes;
    if (room > 0) {
      this.#head.push(bytes.slice(0, room));
      this.#headBytes += Math.min(room, bytes.length);
    }
    if (bytes.length > room) this.#addToTail(bytes.slice(Math.max(0, room)));
  }

  /** What was kept. `leftOut` is how many bytes are missing between the two. */
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
  }
}
