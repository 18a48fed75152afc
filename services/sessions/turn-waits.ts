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

/** One waiting call. It listens to the signal of the call itself, because a closure for each event would take more memory. */
class TurnWait {
  isHinted = false;
  isOver = false;
  #resume: (() => void) | undefined;

  wake(): void {
    this.isHinted = true;
    this.#resume?.();
  }

  end(): void {
    this.isOver = true;
    this.#resume?.();
  }

  /** Called when the signal aborts. */
  handleEvent(): void {
    this.end();
  }

  /** Resolves at the next call of `wake` or `end`. */
  sleep(): Promise<void> {
    return new Promise((resolve) => {
      this.#resume = resolve;
    });
  }
}

/**
 * Waits for changes of sessions. A wait reads first, then after each hint about its session, and every POLL_MS. Hints that
 * come during a read cause one further read. A wait does not count as a follower, so the runner reports as rarely as
 * without it.
 */
export class TurnWaits {
  readonly #clock: Clock;
  readonly #waits = new Map<string, Set<TurnWait>>();
  readonly #unsubscribe: () => void;
  #isDraining = false;
  #count = 0;

  constructor({ bus, clock }: { bus: Bus; clock: Clock }) {
    this.#clock = clock;
    this.#unsubscribe = bus.subscribe('sessions.appended', (sessionId) => {
      for (const wait of this.#waits.get(sessionId) ?? []) wait.wake();
    });
  }

  /**
   * Resolves with a final value, or with the last value when the time is over or the process stops. Refuses with CANCELLED
   * when the caller leaves, and with DEPENDENCY_UNAVAILABLE when too many calls wait.
   */
  async wait<Value>(options: WaitOptions<Value>, call: WaitingCall): Promise<Value> {
    const { sessionId } = options;
    const { signal } = call;
    if (this.#count >= MAX_WAITS) throw overloaded('Too many requests wait for turns. Try again later.');
    const wait = new TurnWait();
    if (this.#isDraining) wait.end();
    const waitMs = Math.min(options.waitMs, call.deadline - this.#clock.now().getTime() - DEADLINE_MARGIN_MS);
    const cancelTimeout = this.#clock.after(Math.max(0, waitMs), () => wait.end());
    signal.addEventListener('abort', wait);
    this.#add(sessionId, wait);
    try {
      for (;;) {
        const last = await readLast(wait, options, signal);
        if (last) return last.value;
        // Both can have changed since the end of the read.
        if (wait.isHinted || wait.isOver) continue;
        const cancelPoll = this.#clock.after(POLL_MS, () => wait.wake());
        await wait.sleep();
        cancelPoll();
      }
    } finally {
      cancelTimeout();
      signal.removeEventListener('abort', wait);
      this.#remove(sessionId, wait);
    }
  }

  /** The number of waiting calls. */
  get count(): number {
    return this.#count;
  }

  /** Answers all waits with the state reached. Later waits are answered at once. */
  drain(): void {
    this.#isDraining = true;
    for (const waits of this.#waits.values()) for (const wait of waits) wait.end();
  }

  close(): void {
    this.drain();
    this.#unsubscribe();
  }

  #add(sessionId: string, wait: TurnWait): void {
    this.#count++;
    const waits = this.#waits.get(sessionId);
    if (waits) waits.add(wait);
    else this.#waits.set(sessionId, new Set([wait]));
  }

  #remove(sessionId: string, wait: TurnWait): void {
    this.#count--;
    const waits = this.#waits.get(sessionId);
    if (waits?.delete(wait) && waits.size === 0) this.#waits.delete(sessionId);
  }
}

/**
 * Returns the value if it is the last one. This is a function of its own because a local variable of `wait` would retain the
 * value while the call waits.
 */
async function readLast<Value>(
  wait: TurnWait,
  { read, isFinal }: WaitOptions<Value>,
  signal: AbortSignal,
): Promise<{ value: Value } | undefined> {
  wait.isHinted = false;
  const value = await read();
  if (signal.aborted) throw refuse('CANCELLED', 'The caller disconnected before the response.');
  return wait.isOver || isFinal(value) ? { value } : undefined;
}
