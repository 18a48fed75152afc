import type { ClaimedTurn } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { Outbox } from './outbox.ts';

/** Why a turn is stopped before its end: its lease, its time budget, a step that hangs, or this runner's end. */
export type StopCause = 'lost' | 'budget' | 'timeout' | 'stopping';

/** A turn in this runner's hands, from its claim until its outcome is appended or its lease is lost. */
export class HeldTurn {
  readonly claimed: ClaimedTurn;
  readonly outbox: Outbox;
  /** Until when, in milliseconds since the epoch, nobody else can have this turn. */
  leaseUntil: number;
  readonly #controller = new AbortController();

  constructor(claimed: ClaimedTurn, outbox: Outbox, leaseUntil: number) {
    this.claimed = claimed;
    this.outbox = outbox;
    this.leaseUntil = leaseUntil;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The first cause counts. */
  stop(cause: StopCause): void {
    this.#controller.abort(cause);
  }

  get stopped(): StopCause | undefined {
    return this.signal.aborted ? (this.signal.reason as StopCause) : undefined;
  }
}

export interface HeldOptions {
  slots: number;
  intervalMs: number;
  /** Called when a slot has become free. */
  onFree(): void;
}

/** All turns of one runner. */
export class Held {
  readonly #turns = new Map<string, HeldTurn>();
  readonly #options: HeldOptions;
  #whenEmpty: (() => void)[] = [];

  constructor(options: HeldOptions) {
    this.#options = options;
  }

  get free(): number {
    return this.#options.slots - this.#turns.size;
  }

  get size(): number {
    return this.#turns.size;
  }

  has(turn: HeldTurn): boolean {
    return this.#turns.get(turn.claimed.turnId) === turn;
  }

  [Symbol.iterator](): IterableIterator<HeldTurn> {
    return this.#turns.values();
  }

  /** A turn that is claimed again while an older lease of it is still held: the older one is lost. */
  add(claimed: ClaimedTurn, leaseUntil: number, now: number): HeldTurn {
    const older = this.#turns.get(claimed.turnId);
    if (older) this.lose(older);
    const turn = new HeldTurn(claimed, new Outbox(claimed, this.#options.intervalMs, now), leaseUntil);
    this.#turns.set(claimed.turnId, turn);
    return turn;
  }

  /** Its outcome is appended. */
  release(turn: HeldTurn): void {
    if (!this.has(turn)) return;
    this.#turns.delete(turn.claimed.turnId);
    this.#options.onFree();
    if (this.#turns.size === 0) for (const done of this.#whenEmpty.splice(0)) done();
  }

  /** Somebody else may have it: it stops, and nothing more is said of it. */
  lose(turn: HeldTurn): void {
    turn.outbox.close();
    turn.stop('lost');
    this.release(turn);
  }

  /** Resolves as soon as no turn is held. */
  empty(): Promise<void> {
    if (this.#turns.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenEmpty.push(resolve));
  }
}
