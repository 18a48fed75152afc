import { type Clock, wait } from '../../../lib/clock.ts';

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
    if (!this.#isPending) {
      const waking = new AbortController();
      this.#wake = () => waking.abort();
      const ended = AbortSignal.any([signal, waking.signal]);
      if (ms !== undefined) await wait(clock, ms, ended);
      else if (!ended.aborted)
        await new Promise<void>((resolve) =>
          ended.addEventListener('abort', () => resolve(), { once: true }),
        );
      this.#wake = undefined;
    }
    this.#isPending = false;
  }
}
