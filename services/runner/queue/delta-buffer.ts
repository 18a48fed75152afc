/** Maximum length of one delta, in UTF-16 units. Text that arrives faster is reported with a lag. */
const DELTA_CHARS = 256 * 1024;

/** Collects streamed text and cuts it into deltas. A delta never splits a surrogate pair. */
export class DeltaBuffer {
  #text = '';
  /** When the first text was added, and after that, when the last delta was cut. */
  #since = 0;
  #deltas = 0;

  add(text: string, now: number): void {
    if (this.#text === '' && this.#deltas === 0) this.#since = now;
    this.#text += text;
  }

  /** Whether there is text, and `firstMs` have passed since the first text or `nextMs` since the last delta. */
  due(now: number, firstMs: number, nextMs: number): boolean {
    return this.#text !== '' && now - this.#since >= (this.#deltas === 0 ? firstMs : nextMs);
  }

  /** Removes and returns the next delta; undefined when there is none. */
  cut(now: number): string | undefined {
    let end = Math.min(this.#text.length, DELTA_CHARS);
    const last = this.#text.charCodeAt(end - 1);
    // A high surrogate waits for its low surrogate.
    if (last >= 0xd800 && last <= 0xdbff) end--;
    if (end === 0) return undefined;
    const delta = this.#text.slice(0, end);
    this.#text = this.#text.slice(end);
    this.#since = now;
    this.#deltas++;
    return delta;
  }

  /** The number of deltas that were cut. */
  get deltas(): number {
    return this.#deltas;
  }
}
