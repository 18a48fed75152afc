import type { Clock } from '../../../lib/clock.ts';

/** Lets a loop sleep until something changes. A change before the sleep ends the next one at once. */
export class WakeUp {
  #isPending = false;
  #wake: (() => void) | undefined;

  notify(): void {
    this.#isPending = true;
    this.#wake?.();
  }

  /** Resolves after a change, after `ms`, or when the signal aborts. Without `ms`, only the first and the last count. */
  async sleep(clock: Clock, ms: number | undefined, signal: AbortSignal): Promise<void> {
    if (!this.#isPending && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const cancel = ms === undefined ? undefined : clock.after(ms, resolve);
      const wake = () => resolve();
      signal.addEventListener('abort', wake, { once: true });
      this.#wake = wake;
      await promise;
      this.#wake = undefined;
      signal.removeEventListener('abort', wake);
      cancel?.();
    }
    this.#isPending = false;
  }
}
