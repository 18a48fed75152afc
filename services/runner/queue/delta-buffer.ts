/** Maximum length of one delta, in UTF-16 units. Text that arrives faster is reported with a lag. */
const DELTA_CHARS = 256 * 1024;

/** Collects streamed text and cuts it into deltas, one per interval. A delta never splits a surrogate pair. */
export class DeltaBuffer {
  #text = '';
  #since = 0;
  #deltas = 0;

  add(text: string, now: number): void {
    if (this.#text === '' && this.#deltas === 0) this.#since = now;
    this.#text += text;
  }

  /** Whether there is text and one interval has passed since the first piece. */
  due(now: number, intervalMs: number): boolean {
    return this.#text !== '' && now - this.#since >= intervalMs;
  }

  /** Removes and returns the next delta; undefined when there is none. */
  cut(): string | undefined {
    let end = Math.min(this.#text.length, DELTA_CHARS);
    const last = this.#text.charCodeAt(end - 1);
    // A high surrogate waits for its low surrogate.
    if (last >= 0xd800 && last <= 0xdbff) end--;
    if (end === 0) return undefined;
    const delta = this.#text.slice(0, end);
    this.#text = this.#text.slice(end);
    this.#deltas++;
    return delta;
  }

  /** The number of deltas that were cut. */
  get deltas(): number {
    return this.#deltas;
  }
}
