/** Text in one delta. What comes faster than this per report has a preview that lags. */
const DELTA_CHARS = 256 * 1024;

/** Text that comes in pieces and is shown in deltas, one an interval. A delta never parts a character. */
export class Preview {
  #text = '';
  #since = 0;
  #deltas = 0;

  add(text: string, now: number): void {
    if (this.#text === '' && this.#deltas === 0) this.#since = now;
    this.#text += text;
  }

  /** Whether there is something to show that has gathered for an interval, since the first piece of all. */
  due(now: number, intervalMs: number): boolean {
    return this.#text !== '' && now - this.#since >= intervalMs;
  }

  /** The next delta; undefined when there is none. */
  cut(): string | undefined {
    let end = Math.min(this.#text.length, DELTA_CHARS);
    const last = this.#text.charCodeAt(end - 1);
    // The other half of the character is still to come.
    if (last >= 0xd800 && last <= 0xdbff) end--;
    if (end === 0) return undefined;
    const delta = this.#text.slice(0, end);
    this.#text = this.#text.slice(end);
    this.#deltas++;
    return delta;
  }

  /** How many deltas there were. */
  get deltas(): number {
    return this.#deltas;
  }
}
