/** More keys are left to the scans for orphans and incomplete writes. */
const MAX_KEYS = 10_000;
const RETRY_MS = 2_000;
const CONCURRENT_REMOVALS = 8;

/**
 * Removes the remains of failed writes in the background. Keys whose remains cannot be removed are tried again until
 * they can.
 */
export class Leftovers {
  readonly #keys = new Set<string>();
  readonly #remove: (key: string) => Promise<void>;
  readonly #retryMs: number;
  #isRunning = false;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(remove: (key: string) => Promise<void>, retryMs = RETRY_MS) {
    this.#remove = remove;
    this.#retryMs = retryMs;
  }

  add(key: string): void {
    if (this.#isClosed || this.#keys.size >= MAX_KEYS) return;
    this.#keys.add(key);
    // While a removal fails, the store is not asked for each further key.
    if (this.#timer === undefined) void this.#run();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #removeOne(key: string): Promise<void> {
    await this.#remove(key);
    this.#keys.delete(key);
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#timer = undefined;
    try {
      while (this.#keys.size > 0 && !this.#isClosed) {
        const keys = [...this.#keys.values().take(CONCURRENT_REMOVALS)];
        await Promise.all(keys.map((key) => this.#removeOne(key)));
      }
    } catch {
      this.#timer = setTimeout(() => void this.#run(), this.#retryMs).unref();
      if (this.#isClosed) this.close();
    } finally {
      this.#isRunning = false;
    }
  }
}
