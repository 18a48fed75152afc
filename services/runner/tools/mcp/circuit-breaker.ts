import type { Clock } from '../../../../lib/clock.ts';
import { LruCache } from '../../../../lib/lru.ts';

/** Consecutive failures after which calls are refused for a while. */
const MAX_FAILURES = 5;
const OPEN_MS = 30_000;
const MAX_CIRCUITS = 10_000;

interface Circuit {
  failures: number;
  /** Calls are refused until this time, in milliseconds since the epoch. Then one call is tried. */
  openUntil: number;
}

/** Refuses calls to servers that have failed repeatedly, so that turns do not wait for them. */
export class CircuitBreaker {
  readonly #clock: Clock;
  readonly #circuits = new LruCache<string, Circuit>(MAX_CIRCUITS);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether a call may be sent now. A call that may is followed by `succeeded`, `failed` or `abandoned`. */
  allows(key: string): boolean {
    const circuit = this.#circuits.get(key);
    if (!circuit || circuit.failures < MAX_FAILURES) return true;
    const now = this.#clock.now().getTime();
    if (now < circuit.openUntil) return false;
    // Other calls are refused while this one tries.
    circuit.openUntil = now + OPEN_MS;
    return true;
  }

  succeeded(key: string): void {
    this.#circuits.delete(key);
  }

  /** The call ended without telling whether the server works. Another call may try. */
  abandoned(key: string): void {
    const circuit = this.#circuits.peek(key);
    if (circuit && circuit.failures >= MAX_FAILURES) circuit.openUntil = this.#clock.now().getTime();
  }

  failed(key: string): void {
    const failures = (this.#circuits.peek(key)?.failures ?? 0) + 1;
    this.#circuits.set(key, { failures, openUntil: this.#clock.now().getTime() + OPEN_MS });
  }
}
