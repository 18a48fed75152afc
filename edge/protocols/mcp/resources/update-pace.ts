import type { Clock } from '../../../../lib/clock.ts';

/** A client that reads a resource after each update must not be asked to read it more often. */
const INTERVAL_MS = 1_000;

/** Reports the updates of each resource at most once in an interval: the first one at once, later ones together at its end. */
export class UpdatePace {
  readonly #clock: Clock;
  readonly #report: (uri: string) => void;
  /** The URIs that were reported in this interval. True: an update has followed. */
  readonly #reported = new Map<string, boolean>();
  readonly #timers = new Set<() => void>();

  constructor(clock: Clock, report: (uri: string) => void) {
    this.#clock = clock;
    this.#report = report;
  }

  note(uri: string): void {
    if (this.#reported.has(uri)) {
      this.#reported.set(uri, true);
      return;
    }
    this.#reported.set(uri, false);
    this.#report(uri);
    const cancel = this.#clock.after(INTERVAL_MS, () => {
      this.#timers.delete(cancel);
      const isDue = this.#reported.get(uri) === true;
      this.#reported.delete(uri);
      if (isDue) this.note(uri);
    });
    this.#timers.add(cancel);
  }

  stop(): void {
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
  }
}
