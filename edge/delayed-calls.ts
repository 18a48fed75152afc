import type { Clock } from '../lib/clock.ts';

interface DelayedCall {
  call: () => void;
  /** Milliseconds since the epoch. */
  dueAt: number;
}

interface DelayedCallsOptions {
  clock: Clock;
  delayMs: number;
  /** Functions beyond this number are called at once. */
  max: number;
}

/** Calls functions in the order of their arrival, each after the same delay, with one timer for all. */
export class DelayedCalls {
  readonly #options: DelayedCallsOptions;
  #waiting: DelayedCall[] = [];

  constructor(options: DelayedCallsOptions) {
    this.#options = options;
  }

  add(call: () => void): void {
    const { clock, delayMs, max } = this.#options;
    if (this.#waiting.length >= max) {
      call();
      return;
    }
    this.#waiting.push({ call, dueAt: clock.now().getTime() + delayMs });
    if (this.#waiting.length === 1) clock.after(delayMs, () => this.#callDue());
  }

  #callDue(): void {
    const { clock } = this.#options;
    const now = clock.now().getTime();
    const firstLater = this.#waiting.findIndex(({ dueAt }) => dueAt > now);
    const due = this.#waiting.splice(0, firstLater === -1 ? this.#waiting.length : firstLater);
    const [next] = this.#waiting;
    if (next) clock.after(next.dueAt - now, () => this.#callDue());
    for (const { call } of due) call();
  }
}
