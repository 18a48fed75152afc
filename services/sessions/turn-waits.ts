import type { Bus } from '../../lib/bus/bus.ts';
import type { Clock } from '../../lib/clock.ts';
import { refuse } from '../../lib/errors.ts';
import { overloaded } from '../../lib/overload.ts';

/** Calls that wait in this process at the same time. */
const MAX_WAITS = 2_000;
/** Interval of reads without a hint: a hint can get lost. */
const POLL_MS = 5_000;
/** A waiting call is answered this long before the deadline of its call. */
const DEADLINE_MARGIN_MS = 500;

interface WaitOptions<Value> {
  sessionId: string;
  waitMs: number;
  read(): Promise<Value>;
  /** Whether there is nothing more to wait for. */
  isFinal(value: Value): boolean;
}

interface WaitingCall {
  signal: AbortSignal;
  deadline: number;
}

/**
 * Waits for changes of sessions. A wait reads first, then after each hint about its session, and every POLL_MS. Hints that
 * come during a read cause one further read. A wait does not count as a follower, so the runner reports as rarely as
 * without it.
 */
export class TurnWaits {
  readonly #clock: Clock;
  /** The waits of each session, as the functions that wake them. */
  readonly #waits = new Map<string, Set<() => void>>();
  readonly #draining = new AbortController();
  readonly #unsubscribe: () => void;
  #count = 0;

  constructor({ bus, clock }: { bus: Bus; clock: Clock }) {
    this.#clock = clock;
    this.#unsubscribe = bus.subscribe('sessions.appended', (sessionId) => {
      for (const wake of this.#waits.get(sessionId) ?? []) wake();
    });
  }

  /**
   * Resolves with a final value, or with the last value when the time is over or the process stops. Refuses with CANCELLED
   * when the caller leaves, and with DEPENDENCY_UNAVAILABLE when too many calls wait.
   */
  async wait<Value>(options: WaitOptions<Value>, call: WaitingCall): Promise<Value> {
    const { sessionId, read, isFinal } = options;
    if (this.#count >= MAX_WAITS) throw overloaded('Too many requests wait for turns. Try again later.');
    let isHinted = false;
    let resume = () => {};
    const wake = () => {
      isHinted = true;
      resume();
    };
    let isOver = this.#draining.signal.aborted;
    const end = () => {
      isOver = true;
      resume();
    };
    const waitMs = Math.min(options.waitMs, call.deadline - this.#clock.now().getTime() - DEADLINE_MARGIN_MS);
    const cancelTimeout = this.#clock.after(Math.max(0, waitMs), end);
    const left = AbortSignal.any([call.signal, this.#draining.signal]);
    left.addEventListener('abort', end, { once: true });
    this.#add(sessionId, wake);
    try {
      for (;;) {
        isHinted = false;
        const value = await read();
        if (call.signal.aborted) throw refuse('CANCELLED', 'The caller disconnected before the response.');
        if (isOver || isFinal(value)) return value;
        if (isHinted) continue;
        const slept = new Promise<void>((resolve) => {
          resume = resolve;
        });
        const cancelPoll = this.#clock.after(POLL_MS, wake);
        await slept;
        cancelPoll();
      }
    } finally {
      cancelTimeout();
      left.removeEventListener('abort', end);
      this.#remove(sessionId, wake);
    }
  }

  /** The number of waiting calls. */
  get count(): number {
    return this.#count;
  }

  /** Answers all waits with the state reached. Later waits are answered at once. */
  drain(): void {
    this.#draining.abort();
  }

  close(): void {
    this.drain();
    this.#unsubscribe();
  }

  #add(sessionId: string, wake: () => void): void {
    this.#count++;
    const waits = this.#waits.get(sessionId);
    if (waits) waits.add(wake);
    else this.#waits.set(sessionId, new Set([wake]));
  }

  #remove(sessionId: string, wake: () => void): void {
    this.#count--;
    const waits = this.#waits.get(sessionId);
    if (waits?.delete(wake) && waits.size === 0) this.#waits.delete(sessionId);
  }
}
